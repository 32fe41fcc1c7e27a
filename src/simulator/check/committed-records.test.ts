import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setBaseOffset } from '../../records/batch.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { buildMarkerBatch } from '../../records/control.ts'
import { findWronglyCommitted } from './committed-records.ts'

type Part = (offset: number) => Buffer

function record(producerId: number, fate: 'commit' | 'abort'): Part {
  return offset => {
    const builder = new BatchBuilder()
    builder.append(1n, Buffer.from('key'), Buffer.from(`${fate} 1`), [])
    return at(offset, builder.finish({ producerId, producerEpoch: 0, baseSequence: 0, isTransactional: true }))
  }
}

function marker(producerId: number, fate: 'commit' | 'abort'): Part {
  return offset => {
    const content = { isCommit: fate === 'commit', coordinatorEpoch: 0 }
    return at(offset, buildMarkerBatch(content, 1, { producerId, producerEpoch: 0 }))
  }
}

function at(offset: number, bytes: Buffer): Buffer {
  const batch = Buffer.from(bytes)
  setBaseOffset(batch, 0, offset)
  return batch
}

function problemIn(parts: readonly Part[], aborted: readonly (readonly [producerId: number, firstOffset: number])[]) {
  const bytes = Buffer.concat(parts.map((part, offset) => part(offset)))
  const abortedTransactions = aborted.map(([producerId, firstOffset]) => ({ producerId, firstOffset }))
  return findWronglyCommitted({ bytes, abortedTransactions, lastStableOffset: parts.length })
}

test('a producer that aborts and then commits is left out and then seen', () => {
  const parts = [record(7, 'abort'), record(8, 'commit'), marker(7, 'abort'), record(7, 'commit'), marker(8, 'commit')]
  assert.equal(problemIn(parts, [[7, 0]]), undefined)
})

test('a record of an aborted transaction that nobody speaks of is seen', () => {
  assert.match(problemIn([record(7, 'abort'), marker(7, 'abort')], []) ?? '', /offset 0 of producer 7 is seen/)
})

test('a record that was committed is left out when its transaction is said to be aborted', () => {
  assert.match(problemIn([record(7, 'commit'), marker(7, 'commit')], [[7, 0]]) ?? '', /offset 0 .* is left out/)
})

test('what is told of an aborted transaction ends with its marker', () => {
  const parts = [record(7, 'abort'), marker(7, 'abort'), record(7, 'commit')]
  assert.equal(problemIn(parts, [[7, 0]]), undefined)
  assert.match(problemIn(parts, [[7, 2]]) ?? '', /offset 0 of producer 7 is seen/)
})

test('nothing is given out at the last stable offset', () => {
  const bytes = record(7, 'commit')(5)
  const problem = findWronglyCommitted({ bytes, abortedTransactions: [], lastStableOffset: 5 })
  assert.match(problem ?? '', /offset 5 is given out/)
})
