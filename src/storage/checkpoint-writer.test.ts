import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DiskError } from '../io/disk.ts'
import { CheckpointWriter } from './checkpoint-writer.ts'
import { readOffsetCheckpoint, writeOffsetCheckpoint } from './directory-files.ts'
import { append, type Host, onHost, written } from './fixture.test.ts'

const name = 'recovery-point-offset-checkpoint'

/** A writer of a process that has not written the file yet, which speaks of `old-0`; it is to speak of `new-0`. */
async function writerOf(host: Host): Promise<CheckpointWriter> {
  await host.open()
  const { disk } = host.io
  await writeOffsetCheckpoint(disk, '/data', name, [{ topic: 'old', partition: 0, offset: 5 }])
  return new CheckpointWriter(disk, '/data', name, () => [{ topic: 'new', partition: 0, offset: 1 }])
}

const namesOf = (writer: CheckpointWriter) => ['old-0', 'new-0', 'other-0'].filter(one => writer.mayName(one))

describe('while a checkpoint is written for the first time', () => {
  test('it may name what the file named and what is being written', () =>
    onHost({}, async host => {
      const writer = await writerOf(host)
      const saved = writer.save()
      assert.deepEqual(namesOf(writer), ['old-0', 'new-0'])
      await saved
      assert.deepEqual(namesOf(writer), ['new-0'])
    }))

  test('and that fails, it may name both until a write succeeds', () =>
    onHost({}, async host => {
      const writer = await writerOf(host)
      host.node.disk.faults.failNext('rename', 'noSpace', { pathEnd: `${name}.tmp` })
      await assert.rejects(writer.save(), DiskError)
      assert.deepEqual([...readOffsetCheckpoint(host.io.disk, '/data', name)!.keys()], ['old-0'])
      assert.deepEqual(namesOf(writer), ['old-0', 'new-0'])
      await writer.save()
      assert.deepEqual(namesOf(writer), ['new-0'])
    }))

  test('a power cut leaves nothing that it was said not to name', async () => {
    for (let seed = 1; seed <= 8; seed++) {
      await onHost({ seed }, async host => {
        const writer = await writerOf(host)
        writer.save().catch(() => undefined)
        await host.world.sleep(seed / 2)
        const named = namesOf(writer)
        host.node.crash('power')
        const { disk } = host.node.start()
        for (const one of readOffsetCheckpoint(disk, '/data', name)?.keys() ?? []) assert.ok(named.includes(one), one)
      })
    }
  })
})

test('a stop ends when nothing of the directory is being written any more', async () => {
  for (let waitMs = 0; waitMs < 12; waitMs += 0.1) {
    await onHost({ seed: waitMs }, async host => {
      const log = await host.openLog()
      append(log)
      await written(host, log)
      await log.flush()
      let isOver = false
      const closed = host.directories.close({ brokerEpoch: 1 }).then(() => {
        isOver = true
      })
      await host.world.sleep(waitMs)
      if (isOver) return
      // As retention that began before has it written.
      log.moveHighWatermark(1)
      const saved = host.directories.directories[0].saveHighWatermarks()
      await closed
      const names = host.node.disk.files().map(({ path }) => path)
      assert.deepEqual(
        names.filter(name => name.endsWith('.tmp')),
        [],
        `after ${waitMs} ms`,
      )
      await saved
    })
  }
})
