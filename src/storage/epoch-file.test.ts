import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leaderEpochFileName } from '../core/log/file-names.ts'
import { LeaderEpochs } from '../core/log/leader-epochs.ts'
import { DiskError, expectDiskError } from '../io/disk.ts'
import { EpochFile } from './epoch-file.ts'
import { type Host, onHost } from './fixture.test.ts'

const path = `/data/${leaderEpochFileName}`

async function fileOf(host: Host): Promise<EpochFile> {
  await host.open()
  const file = new EpochFile(host.io.disk, { path: '/data' }, new LeaderEpochs(), {
    found: undefined,
    isSettled: false,
  })
  file.assign({ leaderEpoch: 1, startOffset: 0 })
  return file
}

/** Undefined where there is no whole file. */
function newestIn({ io }: Host): number | undefined {
  const bytes = io.disk.readSmallFile(path, 1000)
  return bytes && LeaderEpochs.decode(bytes)?.latestEpoch
}

test('what was put in place within a turn is there from then on, whatever saves were under way', async () => {
  for (let waitMs = 0; waitMs < 4; waitMs += 0.1) {
    await onHost({ seed: waitMs }, async host => {
      const file = await fileOf(host)
      const saves = Promise.all([file.save(), file.save()])
      await host.world.sleep(waitMs)
      file.assign({ leaderEpoch: 2, startOffset: 5 })
      file.replaceNow()
      let isOver = false
      void saves.then(() => {
        isOver = true
      })
      while (!isOver) {
        assert.equal(newestIn(host), 2, `${waitMs} ms`)
        await host.world.sleep(0.05)
      }
    })
  }
})

test('a save holds what is newest when it resolves', async () => {
  for (let waitMs = 0; waitMs < 4; waitMs += 0.1) {
    await onHost({ seed: waitMs }, async host => {
      const file = await fileOf(host)
      const saves = [file.save(), file.save()]
      await host.world.sleep(waitMs)
      file.assign({ leaderEpoch: 2, startOffset: 5 })
      saves.push(file.save())
      await Promise.all(saves)
      host.node.crash('power')
      host.io = host.node.start()
      assert.equal(newestIn(host), 2, `${waitMs} ms`)
    })
  }
})

test('what a save or a replacement leaves when the process ends is old or new, never nothing', async () => {
  for (let seed = 0; seed < 40; seed++) {
    await onHost({ seed }, async host => {
      const file = await fileOf(host)
      await file.save()
      file.assign({ leaderEpoch: 2, startOffset: 5 })
      file.save().catch(() => undefined)
      if (seed % 2 === 0) {
        host.node.disk.faults.failNext('rename', 'noSpace', { pathEnd: '.now.tmp' })
        assert.throws(() => file.replaceNow(), DiskError)
      }
      await host.world.sleep(seed / 20)
      host.node.crash(seed % 4 < 2 ? 'kill' : 'power')
      host.io = host.node.start()
      assert.ok([1, 2].includes(newestIn(host) ?? 0), `seed ${seed}`)
    })
  }
})

for (const operation of ['write', 'sync', 'rename', 'syncDirectory'] as const) {
  test(`a save that fails (${operation}) is done again by the next`, async () => {
    for (let seed = 0; seed < 10; seed++) {
      await onHost({ seed }, async host => {
        const file = await fileOf(host)
        host.node.disk.faults.failNext(operation, 'noSpace')
        await assert.rejects(file.save(), DiskError)
        await file.save()
        host.node.crash('power')
        host.io = host.node.start()
        assert.equal(newestIn(host), 1, `seed ${seed}`)
      })
    }
  })
}

test('it contradicts what is appended where it names an epoch that the log does not have', () =>
  onHost({}, async host => {
    const file = await fileOf(host)
    for (const leaderEpoch of [2, 3]) file.assign({ leaderEpoch, startOffset: 5 * leaderEpoch })
    assert.equal(file.contradicts(10), false, 'there is no file')
    await file.save()
    assert.equal(file.contradicts(10), false, 'it knows what the log does, of offsets that follow')
    file.truncateFromEnd(11)
    assert.equal(file.contradicts(10), true, 'a follower may get older ones')
    file.assign({ leaderEpoch: 7, startOffset: 10 })
    assert.equal(file.contradicts(10), true, 'a leader takes offsets for itself that are given to another')
    file.replaceNow()
    assert.equal(file.contradicts(10), false)
    file.dropNewerThan(2)
    assert.equal(file.contradicts(10), true)
    file.assign({ leaderEpoch: 9, startOffset: 10 })
    assert.equal(file.contradicts(10), false, 'a newer one begins where the file says that nothing was written')
  }))

test('a save that is under way when the log is deleted leaves the file of a namesake alone', async () => {
  for (let waitMs = 0; waitMs < 4; waitMs += 0.1) {
    await onHost({ seed: waitMs }, async host => {
      await host.open()
      const { disk } = host.io
      const make = (home: { path: string }, leaderEpoch: number) => {
        disk.makeDirectory(home.path)
        const file = new EpochFile(disk, home, new LeaderEpochs(), { found: undefined, isSettled: false })
        file.assign({ leaderEpoch, startOffset: 0 })
        return file
      }
      const home = { path: '/data/log' }
      const save = make(home, 1)
        .save()
        .catch(error => expectDiskError(error))
      await host.world.sleep(waitMs)
      home.path = '/data/deleted'
      disk.rename('/data/log', home.path)
      const saved = make({ path: '/data/log' }, 2).save()
      await Promise.all([save, saved])
      const bytes = disk.readSmallFile(`/data/log/${leaderEpochFileName}`, 1000)
      assert.equal(bytes && LeaderEpochs.decode(bytes)?.latestEpoch, 2, `${waitMs} ms`)
    })
  }
})
