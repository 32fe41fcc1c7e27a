import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { test } from 'node:test'
import { ErrorCode, isRetriable } from '../../src/base/error-code.ts'
import { SeededRandom } from '../../src/records/seeded-random.ts'
import { MillraceProcess } from '../compatibility/millrace-process.ts'
import { Patience } from '../compatibility/patience.ts'
import { api } from './api.ts'
import { RawClient } from './raw-client.ts'
import { batchOf, createTopic, fetch, produce, recordsOf, soleMember } from './requests.ts'
import { untilCoordinated } from './typical-requests.ts'

/** How often the broker is killed; KILLS=20 says how often. */
const kills = Number(process.env.KILLS ?? 3)
const partitions = 3
const topic = 'killed'
const groupId = 'survivors'

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

/** A connection that is made anew, as often as it takes, until there is an answer. */
class Connection {
  readonly #port: number
  #client: RawClient | undefined

  constructor(port: number) {
    this.#port = port
  }

  async until<T>(ask: (client: RawClient) => Promise<T | undefined>): Promise<T> {
    using patience = new Patience(60_000)
    while (!patience.isOver) {
      try {
        this.#client ??= await RawClient.connect({ port: this.#port })
        const answer = await ask(this.#client)
        if (answer !== undefined) return answer
      } catch (error) {
        if (error instanceof assert.AssertionError && this.#client?.isClosed === false) throw error
        this.close()
      }
      await pause(10)
    }
    return assert.fail('the broker does not come back')
  }

  close(): void {
    this.#client?.close()
    this.#client = undefined
  }
}

/** Writes 0, 1, 2, … to one partition, each until it is acknowledged. */
class Writer {
  readonly #connection: Connection
  readonly #partition: number
  /** Undefined: not idempotent. */
  readonly #producerId: number | undefined
  /** Offsets of what was acknowledged: that of n at index n. */
  readonly acknowledged: number[] = []
  #isStopped = false
  readonly done: Promise<void>

  constructor(port: number, partition: number, producerId: number | undefined) {
    this.#connection = new Connection(port)
    this.#partition = partition
    this.#producerId = producerId
    this.done = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.done
    this.#connection.close()
  }

  async #run(): Promise<void> {
    for (let n = 0; !this.#isStopped; n++) {
      const identity =
        this.#producerId === undefined ? {} : { producerId: this.#producerId, producerEpoch: 0, baseSequence: n }
      const batch = batchOf([String(n)], identity)
      const offset = await this.#connection.until(async client => {
        const { errorCode, baseOffset } = await produce(client, { topic, partition: this.#partition }, batch)
        if (errorCode === ErrorCode.none) return baseOffset
        // Out of order would mean that something acknowledged is gone.
        assert.ok(
          isRetriable(errorCode) && errorCode !== ErrorCode.outOfOrderSequenceNumber,
          `error ${errorCode} at ${n}`,
        )
        return undefined
      })
      this.acknowledged.push(offset)
    }
  }
}

/** Reads one partition as the only member of a group, which it never leaves, and commits what it has read. */
class Reader {
  readonly #connection: Connection
  readonly #member: { readonly memberId: string; readonly generationId: number }
  readonly #partition: number
  readonly seen: string[] = []
  /** What the broker has confirmed. */
  committed = 0
  #isStopped = false
  readonly done: Promise<void>

  constructor(port: number, partition: number, member: { readonly memberId: string; readonly generationId: number }) {
    this.#connection = new Connection(port)
    this.#partition = partition
    this.#member = member
    this.done = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.done
    this.#connection.close()
  }

  /** What the group resumes from. */
  async fetchCommitted(): Promise<number> {
    return await this.#connection.until(async client => {
      const topics = [{ name: topic, partitionIndexes: [this.#partition] }]
      const answer = await client.call(api.offsetFetch, 7, { groupId, topics })
      return answer.errorCode === ErrorCode.none ? answer.topics[0].partitions[0].committedOffset : undefined
    })
  }

  async #run(): Promise<void> {
    let position = 0
    while (!this.#isStopped) {
      const records = await this.#connection.until(async client => {
        const place = { topic, partition: this.#partition }
        const answer = await fetch(client, place, { offset: position, maxWaitMs: 20 })
        return answer.errorCode === ErrorCode.none ? answer.records : undefined
      })
      for (const { offset, value } of recordsOf(records)) {
        if (offset < position) continue
        assert.equal(offset, position, 'no offset is left out')
        this.seen.push(value!)
        position++
      }
      await this.#commit(position)
    }
  }

  async #commit(position: number): Promise<void> {
    const { memberId, generationId } = this.#member
    await this.#connection.until(async client => {
      const partition = { partitionIndex: this.#partition, committedOffset: position, committedMetadata: null }
      const { topics } = await client.call(api.offsetCommit, 7, {
        ...{ groupId, memberId, generationIdOrMemberEpoch: generationId },
        topics: [{ name: topic, partitions: [partition] }],
      })
      const { errorCode } = topics[0].partitions[0]
      // The member is known after every restart, in its generation: the group goes on without a rebalance.
      assert.ok(errorCode === ErrorCode.none || isRetriable(errorCode), `a commit fails with ${errorCode}`)
      return errorCode === ErrorCode.none ? true : undefined
    })
    this.committed = position
  }
}

test('what was acknowledged is there once and in order, however often the broker is killed, and groups go on', async () => {
  const dir = await mkdtemp(joinPath(tmpdir(), 'millrace-kill-'))
  // Segments of a fifth of a second, so that kills fall between any two steps of rolling them.
  const overrides = {
    'offsets.topic.num.partitions': '1',
    'log.roll.ms': '200',
    'group.max.session.timeout.ms': '600000',
  }
  await using broker = await MillraceProcess.start({ dir, overrides })
  const port = Number(broker.bootstrap.split(':')[1])
  const setUp = await RawClient.connect({ port })
  await createTopic(setUp, topic, { partitions })
  await untilCoordinated(setUp, groupId)
  const member = await soleMember(setUp, groupId, { sessionTimeoutMs: 600_000, topics: [topic] })
  const { producerId } = await setUp.call(api.initProducerId, 4, { transactionalId: null, transactionTimeoutMs: 1000 })
  setUp.close()
  // The last one is not idempotent: what it sends twice may be there twice.
  const writers = [0, 1, 2].map(partition => new Writer(port, partition, partition === 2 ? undefined : producerId))
  const reader = new Reader(port, 0, member)
  const trouble = Promise.race([...writers, reader].map(one => one.done))

  const random = new SeededRandom(kills)
  for (let kill = 0; kill < kills; kill++) {
    await Promise.race([trouble, pause(100 + random.below(400))])
    const committed = reader.committed
    await broker.stop('SIGKILL')
    await broker.restart()
    assert.ok((await reader.fetchCommitted()) >= committed, 'a commit that was confirmed is not lost')
  }
  await pause(100)
  for (const writer of writers) await writer.stop()
  await reader.stop()
  await checkLogs(port, writers)
  const first = writers[0].acknowledged.length
  assert.deepEqual(
    reader.seen.slice(0, first),
    Array.from({ length: reader.seen.length }, (_, n) => String(n)).slice(0, first),
  )
  assert.ok(first > 10 * kills, `only ${first} records were written`)
  await broker.stop()
  await rm(dir, { recursive: true })
})

async function checkLogs(port: number, writers: readonly Writer[]): Promise<void> {
  using client = await RawClient.connect({ port })
  for (const [partition, { acknowledged }] of writers.entries()) {
    const stored = await readAll(client, partition)
    for (const [n, offset] of acknowledged.entries()) assert.equal(stored[offset], String(n), `partition ${partition}`)
    const isIdempotent = partition !== 2
    // At most one more than was acknowledged: the one whose answer did not arrive.
    if (isIdempotent)
      assert.deepEqual(
        stored,
        Array.from(stored, (_, n) => String(n)),
      )
    else
      assert.deepEqual(
        [...new Set(stored)],
        Array.from(new Set(stored), (_, n) => String(n)),
      )
  }
}

async function readAll(client: RawClient, partition: number): Promise<string[]> {
  const values: string[] = []
  for (;;) {
    const { errorCode, records, highWatermark } = await fetch(client, { topic, partition }, { offset: values.length })
    assert.equal(errorCode, ErrorCode.none)
    for (const { offset, value } of recordsOf(records)) if (offset === values.length) values.push(value!)
    if (values.length >= highWatermark) return values
  }
}
