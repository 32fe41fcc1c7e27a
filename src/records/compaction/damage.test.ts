import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setBaseOffset, updateCrc } from '../batch.ts'
import { buildControlBatch, ControlType } from '../control.ts'
import { SeededRandom } from '../seeded-random.ts'
import { CompactionJobs } from './compaction-jobs.ts'
import { filterJob, indexJob, joined, makeBatch, makeMap } from './fixtures/jobs.ts'

const good = makeBatch([{ key: 'a' }, { key: 'b' }])

/** What both jobs say of it; they must say the same. */
function damageOf(bytes: Buffer, followingBytes = 0) {
  const jobs = new CompactionJobs()
  const maxUncompressedBytes = 10_000
  const results = [
    jobs.indexKeys(indexJob(joined(bytes), { followingBytes, maxUncompressedBytes })),
    jobs.filterBatches(filterJob(joined(bytes), { followingBytes, maxUncompressedBytes, mapEndOffset: 1e9 })),
  ]
  const [one, other] = results.map(result =>
    result.type === 'damaged' ? { at: result.at, reason: result.reason } : result.type,
  )
  assert.deepEqual(one, other)
  return one
}

function changed(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes)
  change(copy)
  return copy
}

function withCrc(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  return changed(bytes, copy => {
    change(copy)
    updateCrc(copy, 0)
  })
}

describe('damage is told, with its place', () => {
  const at = good.length
  const second = makeBatch([{ key: 'c' }], { baseOffset: 2 })
  const after = (bytes: Buffer) => damageOf(joined(good, bytes))

  test('when a bit is not as it was written', () => {
    assert.equal(after(second), 'done')
    assert.deepEqual(after(changed(second, copy => copy.fill(copy[70] ^ 4, 70, 71))), {
      at,
      reason: 'its CRC is wrong',
    })
  })

  test('when the header cannot be one', () => {
    const reason = 'its header cannot be one of a batch'
    assert.deepEqual(after(Buffer.alloc(100)), { at, reason })
    assert.deepEqual(after(withCrc(second, copy => copy.writeInt32BE(-1, 57))), { at, reason })
    assert.deepEqual(after(withCrc(second, copy => copy.writeInt32BE(-1, 23))), { at, reason })
  })

  test('when offsets do not grow, or are beyond all bounds', () => {
    const reason = 'its offset is not above those before it'
    assert.deepEqual(after(changed(second, copy => setBaseOffset(copy, 0, 1))), { at, reason })
    assert.deepEqual(after(changed(second, copy => copy.fill(0x7f, 0, 8))), { at, reason })
    assert.deepEqual(after(changed(second, copy => copy.fill(0xff, 0, 8))), { at, reason })
  })

  test('when the batch ends beyond the segment, and not when it only ends beyond the chunk', () => {
    const cut = joined(good, second.subarray(0, -1))
    assert.deepEqual(damageOf(cut), { at, reason: 'it is cut off at the end of the segment' })
    assert.equal(damageOf(cut, 1), 'done')
    assert.deepEqual(damageOf(joined(good, second.subarray(0, 5)), 3), {
      at,
      reason: 'it is cut off at the end of the segment',
    })
  })

  test('when the records are not as many as the header says, or more', () => {
    const reason = 'its records are malformed'
    assert.deepEqual(damageOf(withCrc(good, copy => copy.writeInt32BE(3, 57))), { at: 0, reason })
    assert.deepEqual(damageOf(withCrc(good, copy => copy.writeInt32BE(1, 57))), { at: 0, reason })
  })

  test('when a record reaches beyond its length, or beyond the batch', () => {
    const reason = 'its records are malformed'
    for (const position of [61, 62, 63, 64, 65, 66, 67, 68]) {
      const results = new Set<unknown>()
      for (let byte = 0; byte < 256; byte++)
        results.add(JSON.stringify(damageOf(withCrc(good, copy => copy.fill(byte, position, position + 1)))))
      for (const result of results) assert.ok(result === '"done"' || result === JSON.stringify({ at: 0, reason }))
    }
    assert.deepEqual(damageOf(withCrc(good, copy => copy.fill(0x7f, 61, 62))), { at: 0, reason })
  })

  test('when a timestamp has more bytes than any can have', () => {
    const withTimestamp = (bytes: number) => {
      const record = Buffer.concat([Buffer.from([0]), Buffer.alloc(bytes, 0x80), Buffer.from([0, 0, 2, 0x61, 1, 0])])
      const header = makeBatch([{ key: 'a' }]).subarray(0, 61)
      const batch = Buffer.concat([header, Buffer.from([2 * record.length]), record])
      return withCrc(batch, copy => copy.writeInt32BE(copy.length - 12, 8))
    }
    assert.equal(damageOf(withTimestamp(9)), 'done')
    assert.deepEqual(damageOf(withTimestamp(10)), { at: 0, reason: 'its records are malformed' })
  })

  test('when what is compressed cannot be unpacked, or becomes too much', () => {
    const records = Array.from({ length: 200 }, (_, index) => ({ key: `${index}`, value: 'x'.repeat(100) }))
    for (let codec = 1; codec <= 4; codec++) {
      const packed = makeBatch(records, { codec })
      assert.deepEqual(damageOf(packed), { at: 0, reason: 'its records unpack to more than is allowed' })
      const few = makeBatch(records.slice(0, 20), { codec })
      assert.equal(damageOf(few), 'done')
      const broken = damageOf(withCrc(few, copy => copy.fill(0xee, 61, 100)))
      assert.ok(typeof broken === 'object' && broken.at === 0)
    }
    assert.equal(typeof damageOf(withCrc(good, copy => copy.fill(5, 22, 23))), 'object')
  })

  test('when a marker is none', () => {
    const reason = 'its records are malformed'
    const short = buildControlBatch([{ type: ControlType.abort, value: Buffer.alloc(3) }], 0)
    assert.deepEqual(damageOf(short), { at: 0, reason })
    assert.deepEqual(damageOf(withCrc(short, copy => copy.fill(0x7f, 61, 62))), { at: 0, reason })
  })
})

test('bytes that are changed in any way are damage or are read, and nothing else happens', () => {
  const random = new SeededRandom(3)
  const packed = [0, 1, 2, 3, 4].map(codec =>
    makeBatch([{ key: 'a' }, { key: 'b', value: null }, { key: 'a' }], { codec }),
  )
  for (let round = 0; round < 3000; round++) {
    const bytes = joined(packed[random.below(5)])
    for (let changes = 1 + random.below(3); changes > 0; changes--)
      bytes[8 + random.below(bytes.length - 8)] = random.below(256)
    if (random.below(4) > 0 && bytes.readInt32BE(8) === bytes.length - 12) updateCrc(bytes, 0)
    damageOf(bytes, random.below(2) * 1000)
  }
})

describe('a map that is full', () => {
  test('says how far it speaks: up to the last key that it took, or the batch before', () => {
    const log = () =>
      joined(good, makeBatch([{ key: null }, { key: 'b' }, { key: 'c' }, { key: 'd' }], { baseOffset: 10 }))
    for (const [entries, expected] of [
      [2, { mapEndOffset: 1, consumedBytes: 0, isFull: true }],
      [3, { mapEndOffset: 10, consumedBytes: good.length, isFull: true }],
      [4, { mapEndOffset: 13, consumedBytes: good.length, isFull: true }],
      [5, { mapEndOffset: 14, consumedBytes: log().length, isFull: false }],
    ] as const) {
      const result = new CompactionJobs().indexKeys(indexJob(log(), { map: makeMap(entries) }))
      assert.equal(result.type, 'done')
      const { mapEndOffset, consumedBytes, isFull } = result
      assert.deepEqual({ mapEndOffset, consumedBytes, isFull }, expected, `${entries} entries`)
    }
  })

  test('never claims to speak beyond the batch, whatever deltas its producer gave', () => {
    const log = joined(
      makeBatch([
        { key: 'a', delta: 0 },
        { key: 'b', delta: 99 },
        { key: 'c', delta: 100 },
      ]),
    )
    log.writeInt32BE(2, 23)
    updateCrc(log, 0)
    const result = new CompactionJobs().indexKeys(indexJob(log, { map: makeMap(3) }))
    assert.ok(result.type === 'done' && result.isFull && result.mapEndOffset === 3)
  })
})
