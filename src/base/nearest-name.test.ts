import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestName } from './nearest-name.ts'

const known = ['topics', 'overrides', 'log', 'num.partitions', 'log.retention.ms', 'log.retention.bytes']

test('a slip finds the name that was meant', () => {
  const slips: readonly [slip: string, meant: string][] = [
    ['topcis', 'topics'],
    ['topic', 'topics'],
    ['override', 'overrides'],
    ['numPartitions', 'num.partitions'],
    ['NUM_PARTITION', 'num.partitions'],
    ['log.retentoin.ms', 'log.retention.ms'],
    ['logs', 'log'],
  ]
  for (const [slip, meant] of slips) assert.equal(nearestName(slip, known), meant, slip)
})

test('what is like none of the names finds none', () => {
  for (const name of ['port', 'directory', 'x', 'ssl.keystore.location']) {
    assert.equal(nearestName(name, ['topics', 'overrides', 'num.partitions']), undefined, name)
  }
})
