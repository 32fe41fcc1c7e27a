import assert from 'node:assert/strict'
import { test } from 'node:test'
import { append, type Host, onHost, readAll, written } from '../../storage/fixture.test.ts'
import type { SegmentedLog } from '../../storage/segmented-log.ts'
import { Violations } from '../violations.ts'
import { checkEpochs, scanLog } from './audit-log.ts'

/** Where the leader epoch of a batch lies; no CRC covers it. */
const leaderEpochAt = 12

/** Offsets 0 and 1 of epoch 3, 2 and 3 of epoch 5. */
async function twoEpochs(host: Host): Promise<SegmentedLog> {
  const log = await host.openLog()
  log.assignLeaderEpoch(3)
  for (let count = 0; count < 2; count++) append(log, { leaderEpoch: 3 })
  log.assignLeaderEpoch(5)
  for (let count = 0; count < 2; count++) append(log, { leaderEpoch: 5 })
  await written(host, log)
  return log
}

test('a log whose epochs are as its batches say is sound', () =>
  onHost({}, async host => {
    const violations = new Violations()
    const scanned = await scanLog(await twoEpochs(host), violations)
    assert.equal(scanned?.batches.length, 4)
    assert.deepEqual(violations.kept, [])
  }))

test('a batch of another epoch than the cache has for its offset is told (I5)', () =>
  onHost({}, async host => {
    const log = await twoEpochs(host)
    const batches = (await readAll(log)).map(batch => Buffer.from(batch))
    batches[2]!.writeInt32BE(4, leaderEpochAt)
    assert.deepEqual(told(log, batches), ['I5 topic-0: offset 2 is of epoch 4, the cache says 5'])
  }))

test('an epoch of which the cache knows nothing is told (I5)', () =>
  onHost({}, async host => {
    const log = await twoEpochs(host)
    const batches = await readAll(log)
    // As a cut that lost its entry would leave the cache.
    await log.truncate({ endOffset: 2 })
    assert.deepEqual(told(log, batches), [
      'I5 topic-0: offset 2 is of epoch 5, the cache says 3',
      'I5 topic-0: offset 3 is of epoch 5, the cache says 3',
    ])
  }))

test('an epoch that follows a newer one is told (I5)', () =>
  onHost({}, async host => {
    const log = await twoEpochs(host)
    const [first, , third] = await readAll(log)
    assert.deepEqual(told(log, [third!, first!]), ['I5 topic-0: leader epoch 3 follows 5 at 0'])
  }))

function told(log: SegmentedLog, batches: readonly Buffer[]): string[] {
  const violations = new Violations()
  checkEpochs(log, batches, violations)
  return violations.kept.map(({ invariant, text }) => `${invariant} ${text}`)
}
