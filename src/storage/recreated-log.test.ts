import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CrashKind } from '../simulator/io/simulated-disk.ts'
import { append, type Host, onHost, readAll, topicId, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

const newTopicId = 'AAAAAAAAQACAAAAAAAAAaQ'

/** A log with a start, an end and a high watermark that all checkpoints say, and beside it one that makes them change. */
async function fill(host: Host): Promise<{ old: SegmentedLog; other: SegmentedLog }> {
  const old = await host.openLog()
  const other = host.log(1)
  for (const log of [old, other]) {
    append(log, { count: 10 })
    await written(host, log)
    log.moveHighWatermark(10)
    await log.flush()
    await log.moveLogStart(7)
  }
  const { directory } = old
  await directory.saveRecoveryPoints()
  await host.directories.directories[0].saveHighWatermarks()
  append(other, { count: 1 })
  await written(host, other)
  other.moveHighWatermark(11)
  await other.flush()
  return { old, other }
}

function create(host: Host): SegmentedLog {
  const request = { topic: 'topic', topicId: newTopicId, partition: 0, config: host.config }
  const created = host.directories.create({ ...request, mayExist: true })
  assert.ok(created.type === 'created', created.type === 'refused' ? created.message : '')
  return created.log
}

interface Moments {
  /** Milliseconds from the start of a write of all checkpoints to the deletion. */
  readonly deletedMs: number
  /** Milliseconds from the creation to the crash. */
  readonly crashedMs: number
  readonly kind: CrashKind
  readonly isFlushed: boolean
}

/** The new log is after the crash what it was before, as far as the crash may not take it. */
async function check(host: Host, { deletedMs, crashedMs, kind, isFlushed }: Moments): Promise<void> {
  const { old, other } = await fill(host)
  const [directory] = host.directories.directories
  await other.moveLogStart(8).catch(() => undefined)
  const saves = [directory.saveLogStarts(), directory.saveRecoveryPoints(), directory.saveHighWatermarks()]
  for (const save of saves) save.catch(() => undefined)
  await host.world.sleep(deletedMs)
  host.directories.delete(old)
  const log = create(host)
  for (let count = 0; count < 3; count++) append(log)
  if (isFlushed) log.flush().catch(() => undefined)
  await host.world.sleep(crashedMs)
  const endOffset = kind === 'kill' ? log.logEndOffset : log.flushedOffset
  host.node.crash(kind)

  const isStray = ({ topicId: id }: { topicId: string }) => id === topicId
  await host.open({ isStray })
  assert.deepEqual(host.faults.damage, [])
  const again = create(host)
  assert.equal(again.logStartOffset, 0)
  assert.ok(again.logEndOffset >= endOffset, `${again.logEndOffset} of ${endOffset}`)
  assert.ok(again.logEndOffset <= 3)
  assert.equal((await readAll(again)).length, again.logEndOffset)
  assert.ok(again.highWatermark <= again.logEndOffset)

  // It goes on as any log does, and the checkpoints speak of it.
  append(again, { count: 5 })
  await written(host, again)
  again.moveHighWatermark(again.logEndOffset)
  await again.moveLogStart(1)
  const end = again.logEndOffset
  host.node.crash('power')
  await host.open({ isStray })
  const last = create(host)
  assert.deepEqual([last.logStartOffset, last.logEndOffset], [1, end])
}

describe('a log of the name of one that was just deleted', () => {
  for (const kind of ['kill', 'power'] as const) {
    for (const isFlushed of [false, true]) {
      test(`takes nothing of it over, whenever a ${kind} comes${isFlushed ? ' to a flush' : ''}`, async () => {
        for (let deletedMs = 0; deletedMs < 8; deletedMs += 1.3) {
          for (let crashedMs = 0; crashedMs < 25; crashedMs += 0.4 + crashedMs / 5) {
            for (const seed of kind === 'kill' ? [1] : [1, 2, 3]) {
              const moments = { deletedMs, crashedMs, kind, isFlushed }
              await onHost({ seed }, host => check(host, moments)).catch(error => {
                throw new Error(`seed ${seed}, ${JSON.stringify(moments)}: ${error.message}`, { cause: error })
              })
            }
          }
        }
      })
    }
  }
})

test('a segment that is being finished when its log is deleted leaves no file in the log that is made anew', async () => {
  for (let waitMs = 0; waitMs < 25; waitMs += 0.2) {
    await onHost({ seed: waitMs }, async host => {
      const log = await host.openLog()
      append(log)
      log.roll()
      append(log)
      await host.world.sleep(waitMs)
      host.directories.delete(log)
      const { path } = create(host)
      await host.world.sleep(50)
      const names = host.io.disk.list(path).map(({ name }) => name)
      assert.deepEqual(
        names.filter(name => name.endsWith('.snapshot')),
        [],
        `${waitMs} ms`,
      )
    })
  }
})
