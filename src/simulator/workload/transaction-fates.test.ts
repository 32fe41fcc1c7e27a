import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../io/seeded-random.ts'
import { TransactionFates } from './transaction-fates.ts'

const topicId = 'AAAAAAAAQACAAAAAAAAAZQ'
const open = { topic: 'topic', topicId, partition: 1, producerId: 7, firstOffset: 3 }

function fatesOf({ damaged }: { readonly damaged: readonly number[] }) {
  const complaints: string[] = []
  const fates = new TransactionFates({
    random: new SeededRandom('1', 'fates'),
    isDamaged: (id, partition) => id === topicId && damaged.includes(partition),
    complain: text => complaints.push(text),
  })
  return { fates, complaints }
}

test('what was settled when a transaction began holds, until another begins there', () => {
  const { fates, complaints } = fatesOf({ damaged: [] })
  fates.begun(open, 'commit')
  assert.equal(fates.of(open), 'commit')
  fates.begun(open, 'abort')
  assert.equal(fates.of(open), 'abort')
  assert.deepEqual(complaints, [])
})

test('a transaction that nobody began is told once, also in the log beside a damaged one', () => {
  const { fates, complaints } = fatesOf({ damaged: [0] })
  fates.begun({ ...open, partition: 0 }, 'commit')
  fates.begun({ ...open, producerId: 8 }, 'commit')
  fates.begun({ ...open, firstOffset: 2 }, 'commit')
  for (let asked = 0; asked < 3; asked++) fates.of(open)
  assert.deepEqual(complaints, ['topic-1 has a transaction from 3 on that nobody began'])
})

test('a transaction whose first batch was damaged goes on with the next one, and has one end', () => {
  const { fates, complaints } = fatesOf({ damaged: [1] })
  fates.begun(open, 'commit')
  const drawn = Array.from({ length: 20 }, (_, count) => ({ ...open, firstOffset: 4 + count }))
  const first = drawn.map(transaction => fates.of(transaction))
  assert.deepEqual(new Set(first), new Set(['commit', 'abort']))
  assert.deepEqual(
    drawn.map(transaction => fates.of(transaction)),
    first,
  )
  assert.deepEqual(complaints, [])
})
