import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { leaderEpochFileName } from '../core/log/file-names.ts'
import { append, batchOf, type Host, onHost, readAll, tryAppend, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

const epochs = [
  { leaderEpoch: 1, startOffset: 0 },
  { leaderEpoch: 2, startOffset: 1 },
]

/** A log of offsets 0 and 1, which are synced, and whose file of epochs says that they are all that there is. */
async function begin(host: Host): Promise<SegmentedLog> {
  const log = await host.openLog()
  for (const leaderEpoch of [1, 2]) append(log, { leaderEpoch })
  await written(host, log)
  await log.flush()
  for (const directory of host.directories.directories) await directory.saveRecoveryPoints()
  return log
}

/** Ends the process, and looks for what a new one finds of three batches, and of what wrote them. */
async function endsAndIsWhole(
  host: Host,
  log: SegmentedLog,
  ending: 'kill' | 'power',
  newEpochs = [{ leaderEpoch: 7, startOffset: 2 }],
): Promise<void> {
  await written(host, log)
  if (ending === 'power') await log.flush()
  host.node.crash(ending)
  const again = await host.openLog()
  assert.deepEqual(host.faults.damage, [])
  assert.equal(again.logEndOffset, 5)
  assert.deepEqual(again.inspect().epochs, [...epochs, ...newEpochs])
  again.moveHighWatermark(5)
  assert.equal((await readAll(again)).length, 5)
}

async function appendThree(host: Host, log: SegmentedLog): Promise<void> {
  log.assignLeaderEpoch(7)
  for (let count = 0; count < 3; count++) append(log, { leaderEpoch: 7 })
  await written(host, log)
}

for (const ending of ['kill', 'power'] as const) {
  test(`what follows a power cut is there after another end (${ending}), whatever epochs lost their batches`, () =>
    onHost({}, async host => {
      const log = await begin(host)
      append(log, { leaderEpoch: 2 })
      for (const leaderEpoch of [3, 4]) append(log, { leaderEpoch })
      await written(host, log)
      // An epoch may be saved before its batches are synced: by Kafka it always is.
      const path = `${log.path}/${leaderEpochFileName}`
      host.io.disk.writeSmallFile(path, Buffer.from('0\n4\n1 0\n2 1\n3 3\n4 4\n'))
      await host.io.disk.syncFile(path)
      await host.io.disk.syncDirectory(log.path)
      host.node.crash('power')
      // The power takes a part of what was not synced: here all of it.
      const { disk } = host.node.start()
      const file = disk.open(`${log.path}/00000000000000000000.log`, 'append')
      file.truncate(2 * batchOf().length)
      file.release()
      host.node.crash('kill')

      const again = await host.openLog()
      assert.equal(again.logEndOffset, 2)
      await appendThree(host, again)
      await endsAndIsWhole(host, again, ending)
    }))

  for (const beforeIt of ['clean', 'kill'] as const) {
    test(`a follower of an older epoch than its own last one, in which it wrote nothing, has its batches after its process ends (${beforeIt}, ${ending})`, async () => {
      for (let seed = 0; seed < 10; seed++) {
        await onHost({ seed }, async host => {
          let log = await begin(host)
          log.assignLeaderEpoch(4)
          await host.close()
          // It led in epoch 4 until it ended, and took nothing. Then one without its consent led who goes on in epoch 2.
          log = await host.openLog()
          if (beforeIt === 'kill') {
            host.node.crash('kill')
            log = await host.openLog()
          } else await log.truncate({ endOffset: 2 })
          for (const baseOffset of [2, 3, 4])
            assert.equal(log.appendAsFollower(batchOf({ baseOffset, partitionLeaderEpoch: 2 })), undefined)
          await endsAndIsWhole(host, log, ending, [])
        })
      }
    })
  }

  test(`what a leader writes in a gap at its end is there after its process ends (${ending})`, async () => {
    // What a power cut takes of a file is drawn.
    for (let seed = 0; seed < 20; seed++) {
      await onHost({ seed }, async host => {
        const log = await begin(host)
        await log.assignEpochs([
          { leaderEpoch: 3, startOffset: 3 },
          { leaderEpoch: 4, startOffset: 4 },
        ])
        await appendThree(host, log)
        await endsAndIsWhole(host, log, ending)
      })
    }
  })
}

test('a leader whose file of epochs cannot be written for a gap at its end takes nothing there', () =>
  onHost({}, async host => {
    const log = await begin(host)
    await log.assignEpochs([{ leaderEpoch: 3, startOffset: 3 }])
    log.assignLeaderEpoch(7)
    host.node.disk.faults.failNext('write', 'io', { pathEnd: `${leaderEpochFileName}.now.tmp` })
    assert.ok(typeof tryAppend(log, batchOf(), { leaderEpoch: 7 }) === 'object')
    assert.equal(log.isOffline, true)
    assert.deepEqual(host.faults.events, ['failed'])
  }))

test('a follower of an older epoch that finds the disk full has its batches when there is room, and after a kill', () =>
  onHost({}, async host => {
    let log = await begin(host)
    log.assignLeaderEpoch(4)
    await host.close()
    log = await host.openLog()
    host.node.crash('kill')
    log = await host.openLog()
    host.node.disk.faults.failNext('write', 'noSpace', { pathEnd: `${leaderEpochFileName}.now.tmp` })
    const batch = batchOf({ baseOffset: 2, partitionLeaderEpoch: 2 })
    assert.equal(log.appendAsFollower(batch)?.errorCode, ErrorCode.kafkaStorageError)
    await host.world.sleep(3000)
    assert.deepEqual(host.faults.events, ['full', 'writable'])
    assert.equal(log.appendAsFollower(batch), undefined)
    await written(host, log)
    host.node.crash('kill')
    const again = await host.openLog()
    assert.deepEqual(host.faults.damage, [])
    assert.equal(again.logEndOffset, 3)
  }))

test('a leader that begins in a gap while the file of epochs is being written has its own there', async () => {
  for (let waitMs = 0; waitMs < 30; waitMs += 0.5) {
    await onHost({ seed: waitMs }, async host => {
      const log = await begin(host)
      log.moveHighWatermark(2)
      await log.assignEpochs([{ leaderEpoch: 3, startOffset: 3 }])
      await log.moveLogStart(1)
      log.roll()
      // The files of the segment that has ended, and the epochs, are written.
      const looked = log.compaction.need(0)
      await host.world.sleep(waitMs)
      await appendThree(host, log)
      await looked
      host.node.crash('kill')
      const again = await host.openLog()
      assert.deepEqual(host.faults.damage, [], `${waitMs} ms`)
      assert.deepEqual(again.inspect().epochs, [epochs[1], { leaderEpoch: 7, startOffset: 2 }], `${waitMs} ms`)
      assert.equal(again.logEndOffset, 5)
    })
  }
})

test('a leader that finds the disk full at a gap at its end goes on there when there is room, and after a kill', () =>
  onHost({}, async host => {
    const log = await begin(host)
    await log.assignEpochs([{ leaderEpoch: 3, startOffset: 3 }])
    log.assignLeaderEpoch(7)
    host.node.disk.faults.failNext('rename', 'noSpace', { pathEnd: `${leaderEpochFileName}.now.tmp` })
    assert.ok(typeof tryAppend(log, batchOf(), { leaderEpoch: 7 }) === 'object')
    await host.world.sleep(3000)
    assert.deepEqual(host.faults.events, ['full', 'writable'])
    await appendThree(host, log)
    await endsAndIsWhole(host, log, 'kill')
  }))

test('what a leader writes in a gap at its end is there after a kill, and a power cut after that', async () => {
  for (let seed = 0; seed < 20; seed++) {
    await onHost({ seed }, async host => {
      const log = await begin(host)
      await log.assignEpochs([
        { leaderEpoch: 3, startOffset: 3 },
        { leaderEpoch: 4, startOffset: 4 },
      ])
      await appendThree(host, log)
      // What was not synced yet is still there, and the new process counts it as synced before long.
      host.node.crash('kill')
      await endsAndIsWhole(host, await host.openLog(), 'power')
    })
  }
})

/** A log with epochs that none of its batches tells of, whose leader has taken offsets for itself that were another epoch's. */
async function leadInGap(host: Host): Promise<SegmentedLog> {
  const log = await begin(host)
  await log.assignEpochs(gap)
  assert.equal(log.appendAsFollower(batchOf({ baseOffset: 5, partitionLeaderEpoch: 4 })), undefined)
  await written(host, log)
  await log.assignEpochs([{ leaderEpoch: 5, startOffset: 8 }])
  log.assignLeaderEpoch(7)
  append(log, { leaderEpoch: 7 })
  await written(host, log)
  return log
}

const gap = [
  { leaderEpoch: 3, startOffset: 2 },
  { leaderEpoch: 4, startOffset: 3 },
]

const endings: readonly (readonly [string, (host: Host, log: SegmentedLog) => Promise<void>])[] = [
  ['a sync', (_, log) => log.flush()],
  [
    'a clean stop',
    async ({ directories }) => {
      await directories.close({ brokerEpoch: 7 })
    },
  ],
  [
    'a kill, and a sync by the next process',
    async host => {
      host.node.crash('kill')
      await (await host.openLog()).flush()
    },
  ],
]
for (const [what, end] of endings) {
  test(`what batches do not tell of epochs is there when the power is cut after ${what}`, async () => {
    for (let seed = 0; seed < 20; seed++) {
      await onHost({ seed }, async host => {
        await end(host, await leadInGap(host))
        host.node.crash('power')
        const again = await host.openLog()
        assert.deepEqual(
          again.inspect().epochs,
          [...epochs, ...gap, { leaderEpoch: 7, startOffset: 6 }],
          `seed ${seed}`,
        )
        assert.equal(again.logEndOffset, 7)
        assert.deepEqual(host.faults.damage, [])
      })
    }
  })
}
