import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { buildMarkerBatch } from '../../records/control.ts'
import type { AppendOrigin } from './partition-log.ts'
import { decodeProducerSnapshot, encodeProducerSnapshot } from './producer-snapshot.ts'
import { ProducerStates } from './producer-states.ts'

interface Sent {
  readonly offset: number
  readonly sequence: number
  readonly count?: number
  readonly epoch?: number
  readonly producerId?: number
  readonly isTransactional?: boolean
  readonly timestamp?: number
}

function batch({
  offset,
  sequence,
  count = 1,
  epoch = 0,
  producerId = 7,
  isTransactional = false,
  timestamp = 100,
}: Sent): Buffer {
  const builder = new BatchBuilder()
  for (let index = 0; index < count; index++) builder.append(timestamp, null, null)
  const fields = { baseOffset: offset, producerId, producerEpoch: epoch, baseSequence: sequence, isTransactional }
  return Buffer.from(builder.finish(fields))
}

function marker(offset: number, isCommit: boolean, { producerId = 7, epoch = 0, coordinatorEpoch = 1 } = {}): Buffer {
  const fields = { baseOffset: offset, producerId, producerEpoch: epoch }
  return Buffer.from(buildMarkerBatch({ isCommit, coordinatorEpoch }, 100, fields))
}

function statesOf(...batches: Buffer[]): ProducerStates {
  const states = new ProducerStates()
  for (const bytes of batches) states.append(bytes, 0)
  return states
}

function answer(states: ProducerStates, bytes: Buffer, origin: AppendOrigin = 'client') {
  const check = states.check(bytes, 0, origin)
  return check.type === 'refused' ? check.errorCode : check.type
}

describe('sequences', () => {
  test('an unknown producer may begin with any', () => {
    assert.equal(answer(new ProducerStates(), batch({ offset: 0, sequence: 55 })), 'next')
  })

  test('go on where the last batch ended, and nowhere else', () => {
    const states = statesOf(batch({ offset: 0, sequence: 10, count: 3 }))
    assert.equal(answer(states, batch({ offset: 3, sequence: 13 })), 'next')
    for (const sequence of [12, 14, 0]) {
      assert.equal(answer(states, batch({ offset: 3, sequence })), ErrorCode.outOfOrderSequenceNumber)
    }
  })

  test('wrap from 2^31 - 1 to 0, also inside of a batch', () => {
    const last = 0x7fff_ffff
    const atEnd = statesOf(batch({ offset: 0, sequence: last }))
    assert.equal(answer(atEnd, batch({ offset: 1, sequence: 0 })), 'next')
    const over = batch({ offset: 0, sequence: last - 1, count: 4 })
    const states = statesOf(over)
    assert.equal(answer(states, batch({ offset: 4, sequence: 2 })), 'next')
    assert.equal(answer(states, batch({ offset: 4, sequence: 1 })), ErrorCode.outOfOrderSequenceNumber)
    assert.equal(answer(states, over), 'duplicate')
  })

  test('begin at 0 in a newer epoch', () => {
    const states = statesOf(batch({ offset: 0, sequence: 10 }))
    assert.equal(answer(states, batch({ offset: 1, sequence: 0, epoch: 1 })), 'next')
    assert.equal(answer(states, batch({ offset: 1, sequence: 11, epoch: 1 })), ErrorCode.outOfOrderSequenceNumber)
  })

  test('of an older epoch are fenced', () => {
    const states = statesOf(batch({ offset: 0, sequence: 0, epoch: 3 }))
    assert.equal(answer(states, batch({ offset: 1, sequence: 1, epoch: 2 })), ErrorCode.invalidProducerEpoch)
    assert.equal(
      answer(states, batch({ offset: 1, sequence: -1, epoch: 2 }), 'coordinator'),
      ErrorCode.invalidProducerEpoch,
    )
  })

  test('are not asked of a coordinator', () => {
    const states = statesOf(batch({ offset: 0, sequence: 5 }))
    assert.equal(answer(states, batch({ offset: 1, sequence: -1 }), 'coordinator'), 'next')
  })

  test('of the last five batches are duplicates, with their offsets; older ones are out of order', () => {
    const sent = [0, 1, 2, 3, 4, 5].map(index =>
      batch({ offset: 100 + index * 2, sequence: index * 2, count: 2, timestamp: index }),
    )
    const states = statesOf(...sent)
    for (const [index, bytes] of sent.entries()) {
      const check = states.check(bytes, 0, 'client')
      if (index === 0) assert.equal(answer(states, bytes), ErrorCode.outOfOrderSequenceNumber)
      else {
        assert.ok(check.type === 'duplicate')
        assert.deepEqual(check.batch, {
          lastSequence: index * 2 + 1,
          lastOffset: 101 + index * 2,
          offsetDelta: 1,
          timestamp: BigInt(index),
        })
      }
    }
    assert.equal(
      answer(states, batch({ offset: 0, sequence: 4, count: 1 })),
      ErrorCode.outOfOrderSequenceNumber,
      'other bounds',
    )
  })

  test('of a duplicate from an earlier epoch are fenced, not answered', () => {
    const first = batch({ offset: 0, sequence: 0 })
    assert.equal(
      answer(statesOf(first, batch({ offset: 1, sequence: 0, epoch: 1 })), first),
      ErrorCode.invalidProducerEpoch,
    )
  })
})

describe('transactions', () => {
  test('hold the first unstable offset until their marker is below the high watermark', () => {
    const states = statesOf(
      batch({ offset: 10, sequence: 0, isTransactional: true }),
      batch({ offset: 11, sequence: 0, producerId: 8, isTransactional: true }),
      batch({ offset: 12, sequence: 1, isTransactional: true }),
    )
    assert.equal(states.firstUnstableOffset(13), 10)
    assert.equal(states.append(marker(13, true), 0), undefined)
    assert.equal(states.firstUnstableOffset(13), 10, 'the marker may still be lost')
    assert.equal(states.firstUnstableOffset(14), 11)
    states.append(marker(14, true, { producerId: 8 }), 0)
    assert.equal(states.firstUnstableOffset(15), Number.POSITIVE_INFINITY)
  })

  test('that abort are told with the last stable offset of that moment', () => {
    const states = statesOf(
      batch({ offset: 10, sequence: 0, isTransactional: true }),
      batch({ offset: 11, sequence: 0, producerId: 8, isTransactional: true }),
    )
    const first = { producerId: 7, firstOffset: 10, lastOffset: 12, lastStableOffset: 11 }
    assert.deepEqual(states.append(marker(12, false), 0), first)
    const second = { producerId: 8, firstOffset: 11, lastOffset: 13, lastStableOffset: 14 }
    assert.deepEqual(states.append(marker(13, false, { producerId: 8 }), 0), second)
  })

  test('without records leave no entry', () => {
    assert.equal(statesOf(batch({ offset: 0, sequence: 0 })).append(marker(1, false), 0), undefined)
    assert.equal(new ProducerStates().append(marker(1, false), 0), undefined)
  })

  test('take no plain batch in between', () => {
    const states = statesOf(batch({ offset: 0, sequence: 0, isTransactional: true }))
    assert.equal(answer(states, batch({ offset: 1, sequence: 1 })), ErrorCode.invalidTxnState)
  })

  test('are ended by no coordinator of an older epoch, nor for an older producer', () => {
    const states = statesOf(
      batch({ offset: 0, sequence: 0, epoch: 4 }),
      marker(1, true, { coordinatorEpoch: 5, epoch: 4 }),
    )
    const zombie = marker(2, true, { coordinatorEpoch: 4, epoch: 4 })
    assert.equal(answer(states, zombie, 'coordinator'), ErrorCode.transactionCoordinatorFenced)
    assert.equal(
      answer(states, marker(2, true, { coordinatorEpoch: 5, epoch: 3 }), 'coordinator'),
      ErrorCode.invalidProducerEpoch,
    )
    assert.equal(answer(states, marker(2, true, { coordinatorEpoch: 5, epoch: 4 }), 'coordinator'), 'next')
  })
})

describe('going back', () => {
  const batches = [
    batch({ offset: 0, sequence: 0 }),
    batch({ offset: 1, sequence: 0, producerId: 8, isTransactional: true }),
    batch({ offset: 2, sequence: 1 }),
    marker(3, false, { producerId: 8 }),
    batch({ offset: 4, sequence: 0, epoch: 1 }),
    batch({ offset: 5, sequence: 0, producerId: 9, isTransactional: true }),
  ]

  test('gives the state before each append', () => {
    for (let kept = 0; kept <= batches.length; kept++) {
      const states = statesOf(...batches)
      states.rollBack(kept)
      const expected = statesOf(...batches.slice(0, kept))
      assert.deepEqual(states.entries, expected.entries)
      assert.equal(states.firstUnstableOffset(0), expected.firstUnstableOffset(0))
    }
  })

  test('does not undo what is complete', () => {
    const states = statesOf(...batches)
    states.complete(3)
    states.rollBack(0)
    assert.deepEqual(states.entries, statesOf(...batches.slice(0, 3)).entries)
  })
})

test('producers that have been silent for long are forgotten, unless a transaction is open', () => {
  const states = statesOf(
    batch({ offset: 0, sequence: 0, producerId: 1, timestamp: 1000 }),
    batch({ offset: 1, sequence: 0, producerId: 2, timestamp: 1001 }),
    batch({ offset: 2, sequence: 0, producerId: 3, timestamp: 1000, isTransactional: true }),
  )
  states.expire({ wallMs: 6000, expirationMs: 5000 })
  assert.deepEqual([...states.entries.keys()], [2, 3])
})

describe('a snapshot', () => {
  test("has Kafka's bytes", () => {
    const states = statesOf(
      batch({ offset: 32, sequence: 0, count: 10, epoch: 5, producerId: 1000, timestamp: 1_700_000_000_000 }),
    )
    const hex =
      '0001e23965830000000100000000000003e800050000000900000000000000290000000900000' +
      '18bcfe56800ffffffffffffffffffffffff'
    assert.equal(encodeProducerSnapshot(states.entries).toString('hex'), hex)
  })

  test('gives the same state, with the last batches of each producer', () => {
    const states = statesOf(
      batch({ offset: 0, sequence: 0 }),
      batch({ offset: 1, sequence: 1, count: 2 }),
      marker(3, true, { producerId: 12 }),
      batch({ offset: 4, sequence: 9, producerId: 8, isTransactional: true }),
    )
    const restored = new ProducerStates()
    restored.reset(decodeProducerSnapshot(encodeProducerSnapshot(states.entries)) ?? [])
    assert.deepEqual([...restored.entries], [...states.entries])
    assert.equal(restored.firstUnstableOffset(9), 4)
    assert.equal(answer(restored, batch({ offset: 9, sequence: 1, count: 2 })), 'duplicate')
    assert.equal(answer(restored, batch({ offset: 9, sequence: 0 })), 'duplicate')
  })

  test('of Kafka, with one batch of a producer, is the newest of ours, entry for entry', () => {
    const states = statesOf(...[0, 1, 2].map(sequence => batch({ offset: sequence, sequence })))
    const [[producerId, entry]] = states.entries
    const kafkas = encodeProducerSnapshot(new Map([[producerId, { ...entry, batches: entry.batches.slice(-1) }]]))
    const ours = encodeProducerSnapshot(states.entries)
    assert.ok(ours.subarray(-46).equals(kafkas.subarray(-46)))
    assert.equal(ours.length, kafkas.length + 2 * 46)
  })

  test('is refused when a byte of it was changed, or the end is missing', () => {
    const bytes = encodeProducerSnapshot(statesOf(batch({ offset: 0, sequence: 0 })).entries)
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] ^= 0x04
      assert.equal(decodeProducerSnapshot(changed), undefined)
      assert.equal(decodeProducerSnapshot(bytes.subarray(0, at)), undefined)
    }
  })
})
