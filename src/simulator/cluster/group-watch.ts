import type { Broker } from '../../broker/broker.ts'
import type { History } from '../history/history.ts'
import type { LogLine } from '../io/simulated-log.ts'

/**
 * The god view of groups. It tells the history when generations begin to be numbered anew, which no client can know: when a
 * coordinator was loaded again, since a rebalance that was not written is gone with the one before, and when a group had
 * been forgotten, as an empty one without offsets is before long.
 */
export class GroupWatch {
  readonly #history: History
  #loads = 0
  /** By group, since the coordinator was loaded last. */
  readonly #generations = new Map<string, number>()

  constructor(history: History) {
    this.#history = history
  }

  begin(broker: Broker): void {
    this.#loads = loadsOf(broker)
    this.#anew(undefined)
  }

  look(broker: Broker): void {
    const loads = loadsOf(broker)
    if (loads === this.#loads) return
    this.#loads = loads
    this.#anew(undefined)
  }

  /** Of what the broker says, only that a generation has begun. */
  logged({ fields }: LogLine): void {
    if (fields.type !== 'generationStarted') return
    const { groupId, generationId } = fields as { groupId: string; generationId: number }
    if (generationId <= (this.#generations.get(groupId) ?? -1)) this.#anew(groupId)
    this.#generations.set(groupId, generationId)
  }

  #anew(group: string | undefined): void {
    if (group === undefined) this.#generations.clear()
    this.#history.mark('numberedAnew', { group })
  }
}

function loadsOf(broker: Broker): number {
  let sum = 0
  for (const shard of broker.groups.shards.values()) sum += shard.loads
  return sum
}
