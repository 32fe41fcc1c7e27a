import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeaderEpochs } from './leader-epochs.ts'

function epochsOf(...starts: [number, number][]): LeaderEpochs {
  const epochs = new LeaderEpochs()
  for (const [leaderEpoch, startOffset] of starts) epochs.assign({ leaderEpoch, startOffset })
  return epochs
}

const startsOf = (epochs: LeaderEpochs) =>
  epochs.entries.map(({ leaderEpoch, startOffset }) => [leaderEpoch, startOffset])

test('an epoch begins once, and an older one never again', () => {
  const epochs = epochsOf([1, 0], [1, 5], [0, 7], [3, 9])
  assert.deepEqual(startsOf(epochs), [
    [1, 0],
    [3, 9],
  ])
  assert.equal(epochs.latestEpoch, 3)
})

test('an epoch in which nothing was written gives way to the next', () => {
  assert.deepEqual(startsOf(epochsOf([1, 0], [2, 10], [3, 10], [4, 10])), [
    [1, 0],
    [4, 10],
  ])
})

test('the end of an epoch is the beginning of the next that is known', () => {
  const epochs = epochsOf([2, 10], [4, 20], [5, 30])
  const ends = [-1, 0, 1, 2, 3, 4, 5, 6].map(epoch => epochs.endOffsetFor(epoch, 99))
  assert.deepEqual(
    ends.map(({ leaderEpoch, endOffset }) => [leaderEpoch, endOffset]),
    [
      [-1, -1],
      [0, 10],
      [1, 10],
      [2, 20],
      [2, 20],
      [4, 30],
      [5, 99],
      [-1, -1],
    ],
  )
  assert.deepEqual(new LeaderEpochs().endOffsetFor(0, 99), { leaderEpoch: -1, endOffset: -1 })
})

test('each offset has the epoch that wrote it', () => {
  const epochs = epochsOf([2, 10], [4, 20])
  assert.deepEqual(
    [9, 10, 19, 20, 99].map(offset => epochs.epochAt(offset)),
    [-1, 2, 2, 4, 4],
  )
})

test('cuts take away what begins beyond them', () => {
  const epochs = epochsOf([2, 10], [4, 20], [5, 30])
  assert.equal(epochs.truncateFromEnd(31), false)
  assert.equal(epochs.truncateFromEnd(30), true)
  assert.deepEqual(startsOf(epochs), [
    [2, 10],
    [4, 20],
  ])
  assert.equal(epochs.truncateFromStart(15), true)
  assert.deepEqual(startsOf(epochs), [
    [2, 15],
    [4, 20],
  ])
  assert.equal(epochs.truncateFromStart(25), true)
  assert.deepEqual(startsOf(epochs), [[4, 25]])
  assert.equal(epochs.truncateFromStart(25), false)
})

test('an epoch that an older one follows never was', () => {
  const epochs = epochsOf([2, 10], [4, 20], [9, 25])
  assert.deepEqual(epochs.dropNewerThan(3), { leaderEpoch: 4, startOffset: 20 })
  assert.deepEqual(startsOf(epochs), [[2, 10]])
  assert.equal(epochs.dropNewerThan(2), undefined)
})

test('the file is read back; one that is damaged is refused', () => {
  const epochs = epochsOf([2, 10], [4, 20])
  assert.equal(epochs.encode().toString(), '0\n2\n2 10\n4 20\n')
  assert.deepEqual(LeaderEpochs.decode(epochs.encode())?.entries, epochs.entries)
  for (const text of [
    '0\n2\n2 10\n',
    '1\n1\n2 10\n',
    '0\n2\n4 10\n2 20\n',
    '0\n2\n2 20\n4 10\n',
    '0\n1\nx 1\n',
    'abc',
  ]) {
    assert.equal(LeaderEpochs.decode(Buffer.from(text)), undefined, JSON.stringify(text))
  }
  assert.deepEqual(LeaderEpochs.decode(Buffer.alloc(0))?.entries, [], 'Kafka makes the file empty')
})
