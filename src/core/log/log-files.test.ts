import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeOffsetCheckpoint, encodeOffsetCheckpoint } from './checkpoint-text.ts'
import {
  decodePartitionMetadata,
  encodePartitionMetadata,
  isTornPartitionMetadata,
  parsePartitionDirectoryName,
  parseSegmentFileName,
  renamedDirectoryName,
  segmentFileName,
} from './file-names.ts'
import { OffsetIndex } from './offset-index.ts'
import { planSegments } from './segment-plan.ts'
import { TimeIndex } from './time-index.ts'
import { decodeTransactionIndex, encodeTransactionIndex } from './transaction-index.ts'

describe('names', () => {
  test('of segment files have 20 digits', () => {
    assert.equal(segmentFileName(1_234, 'timeindex'), '00000000000000001234.timeindex')
    assert.deepEqual(parseSegmentFileName('00000000000000001234.log'), { offset: 1234, kind: 'log', suffix: undefined })
    assert.deepEqual(parseSegmentFileName('00000000000000000009.index.swap'), {
      offset: 9,
      kind: 'index',
      suffix: 'swap',
    })
    for (const name of [
      '1.log',
      '00000000000000000001.txt',
      '00000000000000000001.log.old',
      '99999999999999999999.log',
    ]) {
      assert.equal(parseSegmentFileName(name), undefined, name)
    }
  })

  test('of partitions are split at their last dash', () => {
    const id = '0123456789abcdef0123456789abcdef'
    assert.deepEqual(parsePartitionDirectoryName('a-b-12'), { topic: 'a-b', partition: 12, kind: 'current' })
    for (const kind of ['delete', 'stray', 'future'] as const) {
      const name = renamedDirectoryName({ topic: 'a-b', partition: 3 }, kind, id)
      assert.deepEqual(parsePartitionDirectoryName(name), { topic: 'a-b', partition: 3, kind })
    }
    for (const name of ['a', '-1', 'a-', 'a-01', 'a-x', 'a b-1', 'a/b-1', `${'a'.repeat(250)}-1`, 'a-99999999999']) {
      assert.equal(parsePartitionDirectoryName(name), undefined, name)
    }
  })

  test('of renamed partitions fit a file system', () => {
    const long = { topic: 't'.repeat(249), partition: 12345 }
    const id = 'f'.repeat(32)
    assert.equal(renamedDirectoryName(long, 'delete', id).length, 255)
    assert.equal(renamedDirectoryName(long, 'stray', id).length, 255)
    assert.ok(renamedDirectoryName(long, 'future', id).startsWith(long.topic))
  })
})

test('partition.metadata is read back, and anything else is refused', () => {
  const id = 'AAECAwQFBgcICQoLDA0ODw'
  assert.equal(encodePartitionMetadata(id).toString(), `version: 0\ntopic_id: ${id}`)
  assert.equal(decodePartitionMetadata(encodePartitionMetadata(id)), id)
  for (const text of [
    '',
    `version: 1\ntopic_id: ${id}`,
    'version: 0\ntopic_id: short',
    `version: 0\ntopic_id: ${id.slice(1)}`,
  ]) {
    assert.equal(decodePartitionMetadata(Buffer.from(text)), undefined)
  }
})

test('an offset checkpoint is read back, and one that was cut is refused', () => {
  const entries = [
    { topic: 'a.b_c-d', partition: 0, offset: 5 },
    { topic: 't', partition: 12, offset: 9_007_199_254_740_991 },
  ]
  const bytes = encodeOffsetCheckpoint(entries)
  assert.equal(bytes.toString(), '0\n2\na.b_c-d 0 5\nt 12 9007199254740991\n')
  assert.deepEqual(decodeOffsetCheckpoint(bytes), entries)
  for (let length = 1; length < bytes.length; length++) {
    assert.equal(decodeOffsetCheckpoint(bytes.subarray(0, length)), undefined, String(length))
  }
})

describe('an offset index', () => {
  const entries = [
    [5, 100],
    [9, 300],
    [20, 700],
  ] as const
  const index = new OffsetIndex()
  for (const [offset, position] of entries) index.append(offset, position)

  test('finds the entry below an offset and after a position', () => {
    assert.deepEqual(
      [4, 5, 8, 9, 19, 99].map(offset => index.floor(offset)),
      [-1, 0, 0, 1, 1, 2],
    )
    assert.deepEqual(
      [0, 100, 101, 700, 701].map(position => index.firstFromPosition(position)),
      [0, 0, 1, 2, 3],
    )
  })

  test('is read back, without the zeros that a killed Kafka leaves at its end', () => {
    for (const zeros of [0, 8, 800]) {
      const read = OffsetIndex.decode(Buffer.concat([index.encode(), Buffer.alloc(zeros)]), 1000)
      assert.deepEqual(read?.encode(), index.encode())
    }
  })

  test('is refused where it cannot be one', () => {
    const bytes = index.encode()
    assert.equal(OffsetIndex.decode(bytes.subarray(0, 20), 1000), undefined, 'half an entry')
    assert.equal(OffsetIndex.decode(bytes, 700), undefined, 'beyond the end of the segment')
    const swapped = Buffer.concat([bytes.subarray(8, 16), bytes.subarray(0, 8)])
    assert.equal(OffsetIndex.decode(swapped, 1000), undefined, 'offsets that fall')
    assert.equal(OffsetIndex.decode(Buffer.alloc(16, 0xff), 1000), undefined, 'negative numbers')
  })

  test('grows, and is cut by offset', () => {
    const large = new OffsetIndex()
    for (let entry = 0; entry < 1000; entry++) large.append(entry * 10, entry * 100)
    large.truncate(5001)
    assert.equal(large.length, 501)
    assert.equal(large.relativeOffsetAt(500), 5000)
    large.append(5001, 1_000_000)
    assert.equal(large.positionAt(501), 1_000_000)
  })
})

describe('a time index', () => {
  test('keeps growing timestamps only', () => {
    const index = new TimeIndex()
    for (const [timestamp, offset] of [
      [-1n, 0],
      [100n, 5],
      [100n, 8],
      [50n, 9],
      [200n, 20],
    ] as const)
      index.maybeAppend(timestamp, offset)
    assert.equal(index.length, 2)
    assert.deepEqual(
      [100n, 101n, 200n, 201n].map(timestamp => index.below(timestamp)),
      [-1, 0, 0, 1],
    )
    assert.deepEqual(TimeIndex.decode(Buffer.concat([index.encode(), Buffer.alloc(24)]))?.encode(), index.encode())
    assert.equal(TimeIndex.decode(index.encode().subarray(0, 20)), undefined)
    assert.equal(
      TimeIndex.decode(Buffer.concat([index.encode().subarray(12), index.encode().subarray(0, 12)])),
      undefined,
    )
    index.truncate(20)
    assert.equal(index.length, 1)
  })

  test('keeps timestamps of 64 bits exactly', () => {
    const index = new TimeIndex()
    const timestamp = 2n ** 63n - 3n
    index.maybeAppend(timestamp, 1)
    assert.equal(TimeIndex.decode(index.encode())?.timestampAt(0), timestamp)
  })
})

test("a transaction index has Kafka's bytes, and one that cannot be the segment's is refused", () => {
  const entry = { producerId: 1000, firstOffset: 10, lastOffset: 20, lastStableOffset: 21 }
  const bytes = encodeTransactionIndex([entry])
  assert.equal(bytes.toString('hex'), '000000000000000003e8000000000000000a00000000000000140000000000000015')
  const segment = { baseOffset: 5, nextOffset: 30 }
  assert.deepEqual(decodeTransactionIndex(bytes, segment), [entry])
  assert.equal(decodeTransactionIndex(bytes.subarray(1), segment), undefined)
  assert.equal(decodeTransactionIndex(bytes, { baseOffset: 21, nextOffset: 30 }), undefined)
  assert.equal(decodeTransactionIndex(bytes, { baseOffset: 5, nextOffset: 20 }), undefined)
  assert.equal(decodeTransactionIndex(Buffer.concat([bytes, bytes]), segment), undefined)
})

describe('the plan for a directory', () => {
  const files = (offset: number, ...kinds: string[]) => kinds.map(kind => `${String(offset).padStart(20, '0')}.${kind}`)

  test('keeps segments, and removes indexes without one and what is left over', () => {
    const names = [
      ...files(0, 'log', 'index', 'timeindex'),
      ...files(10, 'log', 'snapshot', 'txnindex'),
      ...files(20, 'index', 'log.deleted', 'log.cleaned'),
      'leader-epoch-checkpoint',
      'leader-epoch-checkpoint.tmp',
    ]
    const plan = planSegments(names, () => undefined)
    assert.deepEqual(plan.segments, [0, 10])
    assert.deepEqual(plan.snapshots, [10])
    assert.deepEqual([...plan.withTransactionIndex], [10])
    assert.deepEqual(
      [...plan.remove].sort(),
      [...files(20, 'index', 'log.cleaned', 'log.deleted'), 'leader-epoch-checkpoint.tmp'].sort(),
    )
  })

  test('completes a swap: the segments that were cleaned give way to it', () => {
    const names = [
      ...files(0, 'log', 'index'),
      ...files(10, 'log', 'index'),
      ...files(20, 'log'),
      ...files(0, 'log.swap', 'index.swap'),
    ]
    const plan = planSegments(names, () => 15)
    assert.deepEqual(plan.segments, [0, 20])
    assert.deepEqual(plan.rename.map(({ to }) => to).sort(), files(0, 'index', 'log'))
    assert.deepEqual([...plan.remove].sort(), files(10, 'index', 'log'))
  })

  test('a segment that was put anew and is gone is lost; one whose removal did not end is not', () => {
    const lostOf = (...names: string[]) => {
      const all = [...files(0, 'log', 'index'), ...files(20, 'log', 'index'), ...names]
      const { lost, missing, remove } = planSegments(all, () => 15)
      assert.deepEqual([...remove].sort(), names.toSorted())
      assert.deepEqual(missing, [])
      return lost
    }
    const old = files(10, 'log.deleted', 'index.deleted', 'timeindex.deleted')
    assert.deepEqual(lostOf(...old, ...files(10, 'index', 'timeindex')), [10])
    assert.deepEqual(lostOf(...files(10, 'index.deleted', 'index', 'timeindex')), [10])
    assert.deepEqual(lostOf(...old), [])
    assert.deepEqual(lostOf(...files(10, 'log.deleted', 'index', 'timeindex')), [])
    assert.deepEqual(lostOf(...files(10, 'log.deleted', 'index.deleted', 'timeindex')), [])
    // Before the first or behind the last segment there is nothing to be between.
    assert.deepEqual(lostOf(...files(30, 'log.deleted', 'index.deleted', 'index')), [])
  })

  test('drops a swap of a group that was not complete', () => {
    const names = [...files(0, 'log'), ...files(10, 'log'), ...files(10, 'log.swap'), ...files(5, 'log.cleaned')]
    const plan = planSegments(names, () => 15)
    assert.deepEqual(plan.segments, [0, 10])
    assert.deepEqual([...plan.remove].sort(), [...files(10, 'log.swap'), ...files(5, 'log.cleaned')].sort())
  })
})

test('what a power cut leaves of a partition.metadata that was never synced is told from one that is damaged', () => {
  const whole = encodePartitionMetadata('AAECAwQFBgcICQoLDA0ODw')
  for (let length = 0; length < whole.length; length++) {
    const torn = Buffer.concat([whole.subarray(0, length), Buffer.alloc(length % 3 === 0 ? whole.length - length : 0)])
    assert.ok(isTornPartitionMetadata(torn), `${length}`)
  }
  for (const text of ['', '\0\0\0']) assert.ok(isTornPartitionMetadata(Buffer.from(text)))
  for (const text of ['version: 1', 'topic_id', `x${whole}`]) assert.ok(!isTornPartitionMetadata(Buffer.from(text)))
  assert.ok(!isTornPartitionMetadata(whole))
})
