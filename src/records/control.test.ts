import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isControlBatch, isCrcValid, isTransactional } from './batch.ts'
import {
  buildControlBatch,
  buildMarkerBatch,
  ControlType,
  controlKey,
  readControlType,
  readTransactionMarker,
} from './control.ts'
import { hex } from './hex.ts'
import { RecordReader } from './record.ts'

test("builds Kafka's commit marker to the byte", () => {
  const marker = { isCommit: true, coordinatorEpoch: 9 }
  const place = { baseOffset: 42, partitionLeaderEpoch: 3 }
  assert.deepEqual(
    buildMarkerBatch(marker, 1_700_000_000_000, { ...place, producerId: 1000, producerEpoch: 5 }),
    hex(`000000000000002a 00000042 00000003 02 b40e8663 0030 00000000 0000018bcfe56800 0000018bcfe56800
      00000000000003e8 0005 ffffffff 00000001 20 00 00 00 08 00000001 0c 000000000009 00`),
  )
})

test('a marker reads as it was built', () => {
  for (const isCommit of [true, false]) {
    const bytes = buildMarkerBatch({ isCommit, coordinatorEpoch: 7 }, 5n, { producerId: 1, producerEpoch: 2 })
    const record = new RecordReader(bytes, 0, bytes.length).next()
    assert.deepEqual(readTransactionMarker(record!.key, record!.value), { isCommit, coordinatorEpoch: 7 })
  }
})

test('a control batch of the metadata log has its records in order and is not transactional', () => {
  const leaderChange = hex('0000 00000001 02 00000001 00 02 00000001 00 00')
  const records = [
    { type: ControlType.leaderChange, value: leaderChange },
    { type: ControlType.kraftVersion, value: Buffer.from('v') },
  ]
  const bytes = buildControlBatch(records, 1_700_000_000_000, { partitionLeaderEpoch: 1 })
  assert.equal(isControlBatch(bytes, 0), true)
  assert.equal(isTransactional(bytes, 0), false)
  assert.equal(isCrcValid(bytes, 0, bytes.length), true)
  const reader = new RecordReader(bytes, 0, bytes.length)
  assert.deepEqual(
    [reader.next(), reader.next()].map(record => ({ type: readControlType(record!.key), value: record!.value })),
    records,
  )
})

test('what is no control key, or a marker that is cut off, reads as undefined', () => {
  assert.equal(readControlType(null), undefined)
  assert.equal(readControlType(Buffer.alloc(3)), undefined)
  assert.equal(readControlType(hex('ffff0001')), undefined)
  assert.equal(readControlType(hex('0001002a')), 42)
  assert.equal(readTransactionMarker(controlKey(ControlType.commit), Buffer.alloc(5)), undefined)
  assert.equal(readTransactionMarker(controlKey(ControlType.commit), null), undefined)
  assert.equal(readTransactionMarker(controlKey(ControlType.commit), hex('ffff00000001')), undefined)
  assert.equal(readTransactionMarker(controlKey(ControlType.leaderChange), Buffer.alloc(6)), undefined)
})
