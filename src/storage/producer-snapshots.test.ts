import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { append, type Host, onHost, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

/** Offsets of the producer snapshots of the log. */
function snapshots(host: Host): number[] {
  const names = host.node.disk.files().flatMap(({ path }) => /topic-0\/(\d+)\.snapshot$/.exec(path)?.[1] ?? [])
  return names.map(Number).sort((a, b) => a - b)
}

async function appendTo(host: Host, log: SegmentedLog, count: number): Promise<void> {
  for (let left = count; left > 0; left--)
    append(log, { producerId: 3, producerEpoch: 0, baseSequence: log.nextOffset })
  await written(host, log)
}

async function stoppedAt(host: Host, endOffset: number): Promise<SegmentedLog> {
  await appendTo(host, await host.openLog(), endOffset)
  return await host.reopen()
}

describe('the producer snapshot that a clean stop leaves at the end of a log', () => {
  test('goes with the next stop, if more was appended meanwhile', () =>
    onHost({}, async host => {
      let log = await stoppedAt(host, 5)
      assert.deepEqual(snapshots(host), [5])
      for (const endOffset of [7, 8, 8, 11]) {
        await appendTo(host, log, endOffset - log.nextOffset)
        log = await host.reopen()
        assert.deepEqual(snapshots(host), [endOffset])
        assert.equal(log.inspect().producers.length, 1)
      }
    }))

  test('goes with the next start after a kill', () =>
    onHost({}, async host => {
      await appendTo(host, await stoppedAt(host, 5), 2)
      host.node.crash('kill')
      const log = await host.openLog()
      assert.deepEqual(snapshots(host), [])
      assert.equal(log.nextOffset, 7)
    }))

  test('stays as that of a segment that begins there', () =>
    onHost({}, async host => {
      const log = await stoppedAt(host, 5)
      log.roll()
      await appendTo(host, log, 2)
      await host.reopen()
      assert.deepEqual(snapshots(host), [5, 7])
    }))

  test('goes when the log is cut before it, and stays when it is not', () =>
    onHost({}, async host => {
      const log = await stoppedAt(host, 5)
      await log.truncate({ endOffset: 5 })
      assert.deepEqual(snapshots(host), [5])
      await log.truncate({ endOffset: 3 })
      assert.deepEqual(snapshots(host), [])
      await appendTo(host, log, 4)
      host.node.crash('kill')
      assert.equal((await host.openLog()).nextOffset, 7)
    }))

  test('goes when the log begins anew', () =>
    onHost({}, async host => {
      const log = await stoppedAt(host, 5)
      await log.truncateFullyAndStartAt(20)
      assert.deepEqual(snapshots(host), [])
    }))

  test('is the only one that is kept of those that earlier stops, or Kafka, have left in the middle of a segment', () =>
    onHost({}, async host => {
      await stoppedAt(host, 5)
      await host.close()
      host.io = host.node.start()
      const { bytes } = host.node.disk.files().find(({ path }) => path.endsWith('5.snapshot'))!
      host.io.disk.writeSmallFile('/data/topic-0/00000000000000000002.snapshot', bytes)
      host.node.crash('kill')
      const log = await host.openLog()
      assert.deepEqual(snapshots(host), [5])
      assert.deepEqual([log.nextOffset, log.inspect().producers.length], [5, 1])
    }))
})
