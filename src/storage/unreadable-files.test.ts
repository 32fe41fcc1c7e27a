import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { leaderEpochFileName } from '../core/log/file-names.ts'
import { cleanShutdownFileName, writeOffsetCheckpoint } from './directory-files.ts'
import { append, batchOf, bytesOf, type Host, onHost, readAll, tryAppend, written } from './fixture.test.ts'

const config = { segmentBytes: 2000, indexIntervalBytes: 100 }
const segments = 3

/** A log of some segments, closed and opened again: nothing of it is in memory. */
async function reopened(host: Host) {
  const log = await host.openLog()
  for (let count = 0; count < 10 * segments; count++) append(log, { valueBytes: 100 })
  await written(host, log)
  return await host.reopen()
}

describe('an index that cannot be read', () => {
  for (const kind of ['index', 'timeindex']) {
    test(`is made anew from the batches: reading goes on, and so does writing (.${kind})`, () =>
      onHost({ config }, async host => {
        for (const code of ['io', 'notPermitted'] as const) {
          const log = await reopened(host)
          const end = log.logEndOffset
          host.node.disk.faults.failNext('open', code, { pathEnd: `.${kind}`, times: 10 * segments })
          host.node.disk.faults.failNext('read', code, { pathEnd: `.${kind}`, times: 10 * segments })
          assert.equal(append(log), end)
          await written(host, log)
          assert.equal((await readAll(log)).length, end + 1)
          const found = await log.findByTimestamp(1000n)
          assert.ok(
            found !== undefined && 'offset' in found && found.offset === 0,
            JSON.stringify(found, (_, value) => String(value)),
          )
          assert.ok(
            host.faults.events.every(event => event === 'readFailed'),
            host.faults.events.join(),
          )
          assert.equal(log.isOffline, false)
          host.node.disk.faults.forgetOrdered()
          await host.close()
        }
      }))
  }

  test('for want of descriptors is not: it is there for the next read', () =>
    onHost({ config }, async host => {
      const log = await reopened(host)
      host.node.disk.faults.failNext('open', 'tooManyOpenFiles', { pathEnd: '.index' })
      const first = await log.read({ offset: 0, maxBytes: 1000, minOneBatch: true, isolation: 'logEndOffset' })
      assert.notEqual(first.type, 'read')
      assert.ok(
        (await bytesOf(log.read({ offset: 0, maxBytes: 1000, minOneBatch: true, isolation: 'logEndOffset' }))).length >
          0,
      )
      await host.close()
    }))
})

for (const file of ['partition.metadata', leaderEpochFileName, '00000000000000000003.snapshot']) {
  test(`a file that this user may not read (${file}) keeps its partition from being opened, and no other`, () =>
    onHost({}, async host => {
      const log = await host.openLog()
      for (let count = 0; count < 3; count++) append(log)
      await written(host, log)
      const other = await host.otherLog(async made => void append(made))
      await written(host, other)
      for (const one of [log, other]) one.moveHighWatermark(one.logEndOffset)
      await log.moveLogStart(2)
      await host.close()
      host.node.disk.faults.failNext('read', 'notPermitted', { pathEnd: `topic-0/${file}`, times: 10 })
      await host.open()
      const [{ name, reason }] = host.directories.unopened
      assert.equal(name, 'topic-0')
      assert.match(reason, new RegExp(`/data/topic-0/${file}`))
      assert.deepEqual(host.faults.events, [])
      assert.equal(host.directories.unopened.length, 1)
      const again = host.log(1)
      assert.equal(append(again), 1)
      await written(host, again)
      const made = host.directories.create({ topic: 'topic', topicId: log.topicId, partition: 0, config: host.config })
      assert.equal(made.type, 'refused')
      await host.close()

      host.node.disk.faults.forgetOrdered()
      await host.open()
      assert.deepEqual(host.directories.unopened, [])
      const { logStartOffset, highWatermark, logEndOffset } = host.log()
      assert.deepEqual([logStartOffset, highWatermark, logEndOffset], [2, 3, 3])
      assert.deepEqual(host.faults.damage, [])
      await host.close()
    }))
}

test('what the checkpoints say of a partition whose partition.metadata is damaged is there when it is mended', () =>
  onHost({}, async host => {
    const log = await host.openLog()
    for (let count = 0; count < 3; count++) append(log)
    await written(host, log)
    log.moveHighWatermark(3)
    await log.moveLogStart(2)
    await host.close()
    const path = '/data/topic-0/partition.metadata'
    const { disk } = host.node.start()
    const bytes = disk.readSmallFile(path, 1 << 20) as Buffer
    disk.writeSmallFile(path, Buffer.from('version: 0\ntopic_id: ?\n'))
    host.node.crash('kill')
    await host.open()
    assert.match(host.directories.unopened[0].reason, /partition.metadata/)
    assert.equal(append(host.log(1)), 0)
    await written(host, host.log(1))
    await host.close()
    host.node.start().disk.writeSmallFile(path, bytes)
    host.node.crash('kill')
    const { logStartOffset, highWatermark, logEndOffset } = await host.openLog()
    assert.deepEqual([logStartOffset, highWatermark, logEndOffset], [2, 3, 3])
    assert.deepEqual(host.faults.damage, [])
  }))

const namesOfFiles = [
  ...['partition.metadata', leaderEpochFileName, 'millrace-gaps'],
  ...['log', 'index', 'timeindex', 'txnindex'].map(kind => `00000000000000000000.${kind}`),
  '00000000000000000003.snapshot',
]
for (const file of namesOfFiles) {
  test(`a directory in the place of a file (${file}) keeps its partition from being opened, and no other`, () =>
    onHost({}, async host => {
      const log = await host.openLog()
      for (let count = 0; count < 3; count++) append(log)
      await written(host, log)
      const other = await host.otherLog(async made => void append(made))
      await written(host, other)
      await host.close()
      const path = `/data/topic-0/${file}`
      const { disk } = host.node.start()
      const bytes = disk.readSmallFile(path, 1 << 20)
      await disk.remove(path)
      disk.makeDirectory(path)
      host.node.crash('kill')
      await host.open()
      assert.deepEqual(
        host.directories.unopened.map(({ name, error }) => [name, error?.code, error?.path]),
        [['topic-0', 'isDirectory', path]],
      )
      assert.deepEqual(host.faults.events, [])
      assert.equal(append(host.log(1)), 1)
      await written(host, host.log(1))
      await host.close()
      const after = host.node.start().disk
      await after.remove(path)
      if (bytes !== undefined) after.writeSmallFile(path, bytes)
      host.node.crash('kill')
      const again = await host.openLog()
      assert.equal(append(again), 3)
      await written(host, again)
      assert.equal((await readAll(again)).length, 4)
      await host.close()
    }))
}

test('a partition that is kept from being opened after a power cut is recovered as after one when it is opened', () =>
  onHost({}, async host => {
    await host.open({ bootId: 'before' })
    const log = host.log()
    for (let count = 0; count < 6; count++) append(log)
    await written(host, log)
    host.node.crash('kill')
    // What the power took.
    assert.ok(host.node.disk.flip(`${log.path}/00000000000000000000.log`, 3 * batchOf().length + 17, 0x40))
    host.node.disk.faults.failNext('read', 'notPermitted', { pathEnd: 'topic-0/partition.metadata', times: 10 })
    for (const ending of ['kill', 'clean'] as const) {
      await host.open({ bootId: 'after' })
      assert.equal(host.directories.unopened.length, 1)
      if (ending === 'kill') host.node.crash('kill')
      else {
        const problems = await host.directories.close({ brokerEpoch: 7 })
        assert.deepEqual(problems, ['/data/topic-0 could not be opened, and has still to be recovered'])
        host.node.crash('kill')
        // Kafka would believe it, and recover nothing.
        assert.equal(host.node.disk.tree.find(`/data/${cleanShutdownFileName}`), undefined)
      }
    }
    host.node.disk.faults.forgetOrdered()
    await host.open({ bootId: 'after' })
    assert.deepEqual(host.directories.unopened, [])
    assert.equal(host.log().logEndOffset, 3)
    assert.match(host.faults.damage[0].reason, /was not synced, so the log is cut here/)
  }))

test('a log that is kept from being opened is not taken for its namesake, which was compacted', async () => {
  for (const file of ['partition.metadata', leaderEpochFileName])
    await onHost({}, async host => {
      const log = await host.openLog()
      append(log, { count: 9 })
      await written(host, log)
      await host.close()
      const { disk } = host.node.start()
      // Kafka marks the directory clean without a word on logs that its cleaner has not looked at.
      await writeOffsetCheckpoint(disk, '/data', 'cleaner-offset-checkpoint', [
        { topic: 'topic', partition: 0, offset: 6 },
      ])
      disk.writeSmallFile('/data/topic-0/millrace-namesake', Buffer.alloc(0))
      host.node.crash('kill')
      host.node.disk.faults.failNext('read', 'notPermitted', { pathEnd: `topic-0/${file}`, times: 10 })
      await host.open()
      assert.equal(host.directories.unopened.length, 1)
      await host.close()
      host.node.disk.faults.forgetOrdered()
      const again = await host.openLog()
      assert.deepEqual([again.nextOffset, again.cleanedOffset], [9, undefined], file)
    })
})

test('a log whose last segment cannot be opened refuses what is written to it, and the other logs go on', () =>
  onHost({ config }, async host => {
    for (const code of ['io', 'notPermitted'] as const) {
      const log = await reopened(host)
      const other = await host.otherLog(async made => void append(made))
      await written(host, other)
      const files = host.node.disk.files().map(({ path }) => path)
      const active = files
        .filter(path => path.includes('topic-0/') && path.endsWith('.log'))
        .sort()
        .at(-1)!
      host.node.disk.faults.failNext('open', code, { pathEnd: active })
      const refused = tryAppend(log, batchOf())
      assert.ok(typeof refused === 'object' && refused.errorCode === ErrorCode.kafkaStorageError)
      assert.deepEqual(host.faults.events, ['readFailed'])
      assert.equal(typeof tryAppend(other, batchOf()), 'number')
      assert.equal(typeof tryAppend(log, batchOf()), 'number')
      await written(host, log)
      await host.close()
    }
  }))
