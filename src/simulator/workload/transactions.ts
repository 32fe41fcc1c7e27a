import type { Now } from '../../base/time.ts'
import type { Uuid } from '../../base/uuid.ts'
import type { Partition } from '../../broker/partition.ts'
import type { ProducerEntry } from '../../core/log/producer-entry.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { buildMarkerBatch } from '../../records/control.ts'
import type { SimulatedBroker } from '../cluster/simulated-broker.ts'
import type { SeededRandom } from '../io/seeded-random.ts'
import type { World } from '../io/world.ts'
import type { PlannedTransactions } from '../plan.ts'
import { type Fate, type OpenTransaction, TransactionFates } from './transaction-fates.ts'

/** Far from those that the broker gives out. */
const firstProducerId = 1_000_000
const producerCount = 4
const endRate = 0.3
const codecs = [0, 0, 0, 2, 3]

export interface TransactionsParts {
  readonly world: World
  readonly broker: SimulatedBroker
  readonly planned: PlannedTransactions
  /** No new work is begun. */
  readonly isStopping: () => boolean
  readonly complain: (text: string) => void
}

/**
 * Transactions, as long as no request brings them: they are appended through the interface of the logs, in the process of the
 * broker, as the producers and the coordinator of a later release will. What becomes of a transaction is settled when it
 * begins, and each of its records says so, so that whoever reads records needs no other to tell whether he may see them.
 */
export async function runTransactions({ world, broker, planned, isStopping, complain }: TransactionsParts) {
  const random = world.random('transactions')
  const isDamaged = (topicId: Uuid, partition: number) => broker.ledger.isDamaged(topicId, partition)
  const writer = new TransactionWriter(random, new TransactionFates({ random, isDamaged, complain }))
  while (!isStopping()) {
    await world.sleep(random.delayUs(planned.thinkMs * 1000) / 1000)
    if (broker.node.isPaused) continue
    const all = [...(broker.broker?.partitions.all() ?? [])]
    const own = all.filter(one => one.topic === planned.topic.name && one.isLeader && !one.log.isOffline)
    if (own.length === 0) continue
    const partition = random.pick(own)
    const log = broker.broker?.logs.get(partition.topicId, partition.index)
    for (let left = random.between(1, 4); left > 0 && log !== undefined; left--)
      writer.step(partition, new Map(log.inspect().producers), broker.now)
  }
}

class TransactionWriter {
  readonly #random: SeededRandom
  readonly #fates: TransactionFates
  #count = 0

  constructor(random: SeededRandom, fates: TransactionFates) {
    this.#random = random
    this.#fates = fates
  }

  /** One batch of one producer, or the end of its transaction. */
  step(partition: Partition, producers: ReadonlyMap<number, ProducerEntry>, now: Now): void {
    const producerId = firstProducerId + this.#random.below(producerCount)
    const known = producers.get(producerId)
    const firstOffset = known?.currentTxnFirstOffset ?? -1
    const sequence = (known?.batches.at(-1)?.lastSequence ?? -1) + 1
    if (firstOffset < 0) {
      this.#begin(partition, { producerId, sequence, now })
      return
    }
    const fate = this.#fates.of(openTransaction(partition, { producerId, firstOffset }))
    if (this.#random.chance(endRate)) this.#end(partition, { producerId, fate, now })
    else this.#append(partition, this.#batch({ producerId, sequence, fate, now }), { origin: 'client', now })
  }

  #begin(partition: Partition, { producerId, sequence, now }: Omit<NewBatch, 'fate'>): void {
    const fate = this.#random.pick(['commit', 'abort'] as const)
    const batch = this.#batch({ producerId, sequence, fate, now })
    const firstOffset = this.#append(partition, batch, { origin: 'client', now })
    if (firstOffset !== undefined) this.#fates.begun(openTransaction(partition, { producerId, firstOffset }), fate)
  }

  #end(partition: Partition, { producerId, fate, now }: Omit<NewBatch, 'sequence'>): void {
    const marker = { isCommit: fate === 'commit', coordinatorEpoch: 0 }
    const batch = buildMarkerBatch(marker, now.wallMs, { producerId, producerEpoch: 0 })
    this.#append(partition, Buffer.from(batch), { origin: 'coordinator', now })
  }

  #batch({ producerId, sequence, fate, now }: NewBatch): Buffer {
    const builder = new BatchBuilder()
    for (let left = this.#random.between(1, 3); left > 0; left--) {
      const value = `${fate} ${++this.#count} `.padEnd(this.#random.below(120))
      builder.append(BigInt(now.wallMs), Buffer.from(`key-${this.#random.below(12)}`), Buffer.from(value), [])
    }
    const fields = { producerId, producerEpoch: 0, baseSequence: sequence, isTransactional: true }
    return Buffer.from(builder.finish({ codec: this.#random.pick(codecs), ...fields }))
  }

  /** The offset that it got; undefined when it was refused, as by a full disk. */
  #append(
    { log, leaderEpoch }: Partition,
    batch: Buffer,
    { origin, now }: { readonly origin: 'client' | 'coordinator'; readonly now: Now },
  ): number | undefined {
    const answer = log.reserve({ batch, origin, leaderEpoch, now })
    if (answer.type !== 'reserved') return undefined
    log.append(answer)
    return answer.baseOffset
  }
}

interface NewBatch {
  readonly producerId: number
  readonly sequence: number
  readonly fate: Fate
  readonly now: Now
}

function openTransaction(
  { topic, topicId, index: partition }: Partition,
  begun: Pick<OpenTransaction, 'producerId' | 'firstOffset'>,
): OpenTransaction {
  return { topic, topicId, partition, ...begun }
}
