import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { readBaseOffset } from '../records/batch.ts'
import { batchSpans } from '../records/batch-header.ts'
import { BatchBuilder } from '../records/builder.ts'
import { append, batchOf, bytesOf, type Host, onHost, tryAppend, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

const path = '/data/topic-0/00000000000000000000.log'
const batches = 20
const damaged = 8
const lastOffsetDeltaAt = 23

/** One segment without index entries, as a clean shutdown leaves it, with this done to its file. */
async function reopened(
  host: Host,
  change: (bytes: Buffer, at: number) => void,
  valueBytes = 300,
): Promise<SegmentedLog> {
  const log = await host.openLog()
  for (let count = 0; count < batches; count++) {
    // A record may hold what looks like a batch of this very log.
    if (count === damaged) assert.equal(tryAppend(log, withBatchInside(valueBytes)), damaged)
    else append(log, { valueBytes: 40 })
  }
  await written(host, log)
  await host.close()
  host.io = host.node.start()
  const bytes = host.node.disk.files().find(file => `/${file.path}`.endsWith(path))!.bytes
  const spans = [...batchSpans(bytes)]
  change(bytes, spans[damaged]!.at)
  host.io.disk.writeSmallFile(path, bytes)
  host.node.crash('kill')
  await host.open()
  return host.log()
}

function withBatchInside(valueBytes: number): Buffer {
  const value = Buffer.alloc(valueBytes)
  const inside = batchOf({ count: 2 })
  inside.writeBigInt64BE(BigInt(damaged + 1))
  inside.copy(value)
  const builder = new BatchBuilder()
  builder.append(1000, Buffer.from('key'), value)
  return Buffer.from(builder.finish({}))
}

/** For each offset what a read of it gives: the offset that comes first, or the error. */
async function answers(log: SegmentedLog, end = batches): Promise<string> {
  const found: (string | number)[] = []
  for (let offset = 0; offset < end; offset++) {
    const read = await log.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' })
    if (read.type === 'refused') found.push(read.errorCode === ErrorCode.corruptMessage ? 'damaged' : read.errorCode)
    else found.push(readBaseOffset(await bytesOf(read), 0))
  }
  return found.join()
}

const changes: Record<string, (bytes: Buffer, at: number) => void> = {
  'a record': (bytes, at) => {
    bytes[at + 75]! ^= 1
  },
  'the CRC': (bytes, at) => {
    bytes[at + 17]! ^= 1
  },
  'the offset': (bytes, at) => {
    bytes[at + 7]! ^= 64
  },
  'the length, now too large for the file': (bytes, at) => bytes.writeInt32BE(1 << 20, at + 8),
  'the length, now negative': (bytes, at) => bytes.writeInt32BE(-5, at + 8),
  'the magic': (bytes, at) => {
    bytes[at + 16] = 7
  },
}

describe('a damaged batch hides itself only, before it was ever scrubbed:', () => {
  for (const [what, change] of Object.entries(changes)) {
    test(what, () =>
      onHost({ config: { indexIntervalBytes: 1 << 20 } }, async host => {
        const log = await reopened(host, change)
        const expected = Array.from({ length: batches }, (_, offset) => (offset === damaged ? 'damaged' : offset))
        assert.equal(await answers(log), expected.join())
        assert.equal(host.faults.damage.length, 1)
      }),
    )
  }

  test('and no sound one that stands alone among several', () =>
    onHost({ config: { indexIntervalBytes: 1 << 20 } }, async host => {
      const wrong = [damaged, damaged + 1, damaged + 3]
      const log = await reopened(host, bytes => {
        const spans = [...batchSpans(bytes)]
        for (const batch of wrong) bytes[spans[batch]!.at + 75]! ^= 1
      })
      const expected = Array.from({ length: batches }, (_, offset) => (wrong.includes(offset) ? 'damaged' : offset))
      assert.equal(await answers(log), expected.join())
    }))

  test('but what lies behind more than a read looks through, until it is scrubbed', () =>
    onHost({ config: { indexIntervalBytes: 1 << 24, maxMessageBytes: 1 << 23 } }, async host => {
      const log = await reopened(host, (bytes, at) => bytes.fill(0, at, at + 100), 6 << 20)
      const hidden = Array.from({ length: batches }, (_, offset) => (offset < damaged ? offset : 'damaged'))
      assert.equal(await answers(log), hidden.join())
      let { next } = await log.scrub(undefined, 1 << 20)
      while (next !== undefined) ({ next } = await log.scrub(next, 1 << 20))
      const expected = Array.from({ length: batches }, (_, offset) => (offset === damaged ? 'damaged' : offset))
      assert.equal(await answers(log), expected.join())
    }))
})

describe('where offsets are left out, no one can say where a damaged batch began and ended:', () => {
  const offsets = [
    [0, 1],
    [5, 8],
    [12, 12],
    [20, 21],
  ] as const
  const changesOfHeader: Record<string, (bytes: Buffer, at: number) => void> = {
    'a record has rotted': changes['a record']!,
    'its offset says that it begins later': (bytes, at) => bytes.writeBigInt64BE(11n, at),
    'its header says that it ended sooner': (bytes, at) => bytes.writeInt32BE(0, at + lastOffsetDeltaAt),
    'its header says that it ended later': (bytes, at) => bytes.writeInt32BE(6, at + lastOffsetDeltaAt),
  }
  for (const [what, change] of Object.entries(changesOfHeader)) {
    test(`a read of any offset between the batches beside it is refused, for it may have been in there; ${what}`, () =>
      onHost({ config: { indexIntervalBytes: 1 << 20 } }, async host => {
        const log = await host.openLog()
        for (const [from, to] of offsets) {
          const batch = batchOf({ count: to - from + 1 })
          batch.writeBigInt64BE(BigInt(from))
          assert.equal(log.appendAsFollower(batch), undefined)
          await written(host, log)
        }
        log.moveHighWatermark(log.logEndOffset)
        await host.close()
        host.io = host.node.start()
        const bytes = host.io.disk.readSmallFile(path, 1e6)!
        change(bytes, [...batchSpans(bytes)][1]!.at)
        host.io.disk.writeSmallFile(path, bytes)
        host.node.crash('kill')
        await host.open()
        const refused = Array.from({ length: 10 }, () => 'damaged')
        const later = Array.from({ length: 8 }, () => 20)
        assert.equal(await answers(host.log(), 22), [0, 0, ...refused, 12, ...later, 20].join())
      }))
  }
})

/** How many reads of the log's file the disk is asked for by each of some reads of the log, one after the other. */
async function readsOf(host: Host, log: SegmentedLog, offsets: readonly number[]): Promise<number[]> {
  const { faults } = host.node.disk
  const decide = faults.decide
  let reads = 0
  faults.decide = (kind, file, random) => {
    if (kind === 'read' && file.endsWith('.log')) reads++
    return decide.call(faults, kind, file, random)
  }
  const counts: number[] = []
  for (const offset of offsets) {
    reads = 0
    const read = await log.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' })
    assert.equal(read.type, 'refused')
    counts.push(reads)
  }
  faults.decide = decide
  return counts
}

const large = { config: { indexIntervalBytes: 1 << 24, maxMessageBytes: 1 << 23 } }

describe('a consumer that asks again where it meets damage', () => {
  for (const [what, valueBytes] of [
    ['no batch lies near behind it', 6 << 20],
    ['a batch does', 3 << 20],
  ] as const) {
    test(`costs no more reads of the file when ${what}`, () =>
      onHost(large, async host => {
        const log = await reopened(host, (bytes, at) => bytes.fill(0, at, at + 100), valueBytes)
        const [first, ...again] = await readsOf(host, log, [damaged, damaged, damaged])
        assert.ok(first > 3, `${first} reads`)
        // One looks at what lies before the damage.
        assert.deepEqual(again, [1, 1])
        assert.equal(host.faults.damage.length, 1)
      }))
  }

  test('nor when more is appended meanwhile, which is served', () =>
    onHost(large, async host => {
      const log = await reopened(host, bytes => bytes.fill(0, bytes.length - 300))
      const lost = batches - 1
      const [first] = await readsOf(host, log, [lost])
      assert.ok(first > 0 && host.faults.damage.length === 1)
      for (let count = 0; count < 3; count++) {
        append(log)
        await written(host, log)
        const [again] = await readsOf(host, log, [lost])
        assert.ok(again <= 2, `${again} reads`)
      }
      const bytes = await bytesOf(
        log.read({ offset: batches, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' }),
      )
      assert.equal(readBaseOffset(bytes, 0), batches)
    }))

  test('is served when the bytes are cut off and written anew', () =>
    onHost({ config: { indexIntervalBytes: 1 << 20 } }, async host => {
      const log = await reopened(host, (bytes, at) => {
        bytes[at + 75]! ^= 1
      })
      await readsOf(host, log, [damaged])
      await log.truncate({ endOffset: damaged })
      for (let count = damaged; count < batches; count++) append(log, { valueBytes: 400 })
      await written(host, log)
      assert.equal(await answers(log), Array.from({ length: batches }, (_, offset) => offset).join())
    }))
})

test('a search among bytes that look like batches ends soon, and lets others run meanwhile', { timeout: 8000 }, () =>
  onHost(large, async host => {
    const crafted = batchOf({ valueBytes: 1 << 20 })
    const log = await reopened(
      host,
      (bytes, at) => {
        // Headers of batches as large as the place allows, whose CRCs are wrong.
        for (let position = at; position < at + (3 << 20); position += 61) {
          crafted.copy(bytes, position, 0, 61)
          bytes.writeBigInt64BE(BigInt(damaged), position)
        }
      },
      4 << 20,
    )
    let turns = 0
    let isOver = false
    const count = async () => {
      for (; !isOver; turns++) await host.io.clock.yieldTurn()
    }
    const counting = count()
    await readsOf(host, log, [damaged])
    isOver = true
    await counting
    assert.ok(turns > 5, `${turns} turns`)
  }),
)
