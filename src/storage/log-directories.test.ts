import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { defaultLogConfig } from '../core/log/default-log-config.ts'
import { claimDirectory, formatDirectory } from './directory-claim.ts'
import {
  decodeMetaProperties,
  readMetaProperties,
  readOffsetCheckpoint,
  writeOffsetCheckpoint,
} from './directory-files.ts'
import { append, batchOf, bytesOf, type Host, onHost, readAll, topicId, tryAppend, written } from './fixture.test.ts'
import { openMetadataLog } from './metadata-log.ts'
import type { SegmentedLog } from './segmented-log.ts'

const otherTopicId = 'AAAAAAAAQACAAAAAAAAAaQ'
const names = (host: Host) => [...new Set(host.node.disk.files().map(({ path }) => path.split('/')[1] as string))]

describe('a directory', () => {
  test('that is not formatted, is in use or is damaged is not claimed', () =>
    onHost({}, async host => {
      await host.open()
      assert.equal((await claimDirectory(host.context, '/data')).type, 'inUse')
      assert.equal((await claimDirectory(host.context, '/nowhere')).type, 'unformatted')
      host.io.disk.makeDirectory('/empty')
      assert.equal((await claimDirectory(host.context, '/empty')).type, 'unformatted')
      host.io.disk.makeDirectory('/bad')
      host.io.disk.writeSmallFile('/bad/meta.properties', Buffer.from('version=7\n'))
      const bad = await claimDirectory(host.context, '/bad')
      assert.deepEqual(bad, { type: 'damaged', path: '/bad', reason: 'version 7 is unknown' })
    }))

  test('of version 0 gets a directory id', () =>
    onHost({}, async host => {
      await host.open()
      host.io.disk.makeDirectory('/old')
      host.io.disk.writeSmallFile(
        '/old/meta.properties',
        Buffer.from('#\n#Sat Nov 29\nbroker.id = 4\ncluster.id=abc\\=d\n'),
      )
      const claim = await claimDirectory(host.context, '/old')
      assert.ok(claim.type === 'claimed')
      assert.deepEqual([claim.properties.nodeId, claim.properties.clusterId], [4, 'abc=d'])
      const saved = readMetaProperties(host.io.disk, '/old')
      assert.ok(saved.type === 'read' && saved.properties.version === 1)
      assert.equal(saved.properties.directoryId, claim.directory.id)
    }))

  test('says what is wrong with its meta.properties', () => {
    const reasonOf = (text: string) => {
      const read = decodeMetaProperties(Buffer.from(text))
      return read.type === 'damaged' ? read.reason : read.type
    }
    assert.equal(reasonOf('version=1\nnode.id=1\n'), 'cluster.id is missing')
    assert.equal(reasonOf('version=1\ncluster.id=c\nbroker.id=1\n'), 'the node id is missing or no number')
    assert.equal(reasonOf('version=1\ncluster.id=c\nnode.id=-1\n'), 'the node id is missing or no number')
    assert.equal(
      reasonOf('version=1\ncluster.id=c\nnode.id=1\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAQ\n'),
      'directory.id AAAAAAAAAAAAAAAAAAAAAQ is not usable',
    )
    assert.equal(reasonOf('cluster.id=c\nbroker.id=0\n'), 'read')
  })

  test('is marked clean by a close only, with the broker epoch', () =>
    onHost({}, async host => {
      await host.openLog()
      const marker = () =>
        host.node.disk
          .files()
          .find(({ path }) => path.endsWith('.kafka_cleanshutdown'))
          ?.bytes.toString()
      assert.equal(marker(), undefined)
      await host.close()
      assert.equal(marker(), '{"version":0,"brokerEpoch":7}')
      await host.open()
      assert.equal(marker(), undefined, 'a crash from here on is not clean')
    }))
})

describe('partitions', () => {
  const two = { paths: ['/a', '/b'] }

  test('are put where the fewest are', () =>
    onHost(two, async host => {
      await host.open()
      const places = Array.from({ length: 6 }, (_, partition) => host.log(partition).directory.path)
      assert.deepEqual(places.filter(path => path === '/a').length, 3)
      await host.close()
      await host.open()
      for (const [partition, path] of places.entries())
        assert.equal(host.directories.get(topicId, partition)?.directory.path, path)
    }))

  test('that cannot be made stay where they were begun, also when the disk does not say whether they were', () =>
    onHost(two, async host => {
      const directories = await host.open()
      const { faults } = host.node.disk
      const request = { topic: 'topic', topicId, partition: 0, config: host.config }
      const begin = (operation: 'makeDirectory' | 'open', pathEnd: string) => {
        faults.failNext(operation, 'tooManyOpenFiles', { pathEnd })
        const created = directories.create(request)
        assert.ok(created.type === 'refused')
        return created.begunIn
      }
      const { id } = directories.directories[0]
      assert.equal(begin('makeDirectory', '/a/topic-0'), undefined)
      await host.world.sleep(2000)
      faults.failNext('status', 'io', { pathEnd: '/a/topic-0' })
      assert.equal(begin('makeDirectory', '/a/topic-0'), id)
      await host.world.sleep(2000)
      assert.equal(begin('open', '/a/topic-0/00000000000000000000.log'), id)
      assert.deepEqual(host.faults.events, ['full', 'writable', 'full', 'writable', 'full'])
    }))

  test('take nothing over from a namesake of which the disk does not say whether it was there', () =>
    onHost({}, async host => {
      const directories = await host.open()
      host.node.disk.faults.failNext('status', 'io', { pathEnd: '/topic-0/millrace-namesake' })
      const log = host.log()
      assert.ok(names(host).includes('topic-0'))
      const marker = () => host.node.disk.files().some(({ path }) => path.endsWith('topic-0/millrace-namesake'))
      assert.equal(marker(), true)
      await log.flush()
      assert.equal(marker(), false)
      assert.deepEqual([directories.directories[0].state, host.faults.events], ['online', []])
    }))

  test('of a failed directory go offline, the others go on', () =>
    onHost(two, async host => {
      await host.open()
      const logs = [0, 1, 2, 3].map(partition => host.log(partition))
      host.node.disk.faults.failNext('append', 'io')
      append(logs[0]!)
      await written(host, logs[0]!)
      const failed = logs[0]!.directory.path
      for (const log of logs) assert.equal(log.isOffline, log.directory.path === failed)
      const log = logs.find(one => !one.isOffline)!
      append(log)
      await written(host, log)
      assert.equal(log.logEndOffset, 1)
      assert.notEqual(host.log(9).directory.path, failed)
    }))

  test('that may lie in a directory that could not be read are not made anew elsewhere', () =>
    onHost(two, async host => {
      await host.open()
      for (const log of [host.log(0), host.log(1)]) append(log)
      await written(host, host.log(0))
      await written(host, host.log(1))
      await host.close()
      host.node.disk.faults.failNext('read', 'io', { pathEnd: 'topic-0/partition.metadata' })
      await host.open()
      const request = { topic: 'topic', topicId, partition: 0, config: host.config }
      const created = host.directories.create({ ...request, mayExist: true })
      assert.ok(created.type === 'refused' && created.errorCode === ErrorCode.kafkaStorageError)
      const present = host.directories.create({ ...request, partition: 1, mayExist: true })
      assert.ok(present.type === 'created' && present.log.logEndOffset === 1)
      assert.equal(host.directories.create({ ...request, partition: 2 }).type, 'created', 'it was never there')
      await host.close()
      await host.open()
      assert.equal(host.log(0).logEndOffset, 1)
    }))

  test('that may lie in a directory that could not even be claimed are not made anew elsewhere', () =>
    onHost({}, async host => {
      host.directories = await host.open({ unclaimed: ['/other'] })
      const request = { topic: 'topic', topicId, partition: 0, config: host.config }
      const created = host.directories.create({ ...request, mayExist: true })
      assert.ok(created.type === 'refused' && created.errorCode === ErrorCode.kafkaStorageError)
      assert.match(created.message, /\/other/)
      assert.equal(host.directories.create({ ...request, partition: 1 }).type, 'created', 'it was never there')
    }))

  test('that the cluster does not know are set aside, not removed', () =>
    onHost({}, async host => {
      append(await host.openLog())
      await written(host, host.log())
      await host.close()
      await host.open({ isStray: () => true })
      assert.equal(host.directories.get(topicId, 0), undefined)
      assert.equal(host.directories.unopened.length, 1)
      assert.ok(names(host).some(name => /^topic-0\.[0-9a-f]{32}-stray$/.test(name)))
      assert.equal(append(host.log()), 0, 'the name is free')
    }))

  for (const [what, bytes] of [
    ['is cut off', Buffer.from('version: 0\ntopic_id: x')],
    ['ends in zeros', Buffer.concat([Buffer.from(`version: 0\ntopic_id: ${topicId}\n`), Buffer.alloc(8192)])],
  ] as const)
    test(`whose id ${what} are refused, not guessed`, () =>
      onHost({}, async host => {
        await host.openLog()
        await host.close()
        host.io = host.node.start()
        host.io.disk.writeSmallFile('/data/topic-0/partition.metadata', bytes)
        host.node.crash('kill')
        await host.open()
        assert.deepEqual(host.faults.events, [])
        assert.equal(host.directories.unopened[0]?.name, 'topic-0')
        const { config } = host
        const created = host.directories.create({ topic: 'topic', topicId: otherTopicId, partition: 0, config })
        assert.ok(created.type === 'refused' && created.errorCode === ErrorCode.inconsistentTopicId)
      }))
})

describe('a partition.metadata of garbage', () => {
  const metadata = '/data/topic-0/partition.metadata'
  const plant = async (host: Host, prepare: (log: SegmentedLog) => Promise<unknown>) => {
    await prepare(await host.openLog())
    host.node.crash('kill')
    host.io = host.node.start()
    host.io.disk.writeSmallFile(metadata, host.io.random.bytes(49))
    host.node.crash('kill')
    await host.open()
    return host.directories.unopened.map(({ name }) => name)
  }

  test('in a log that nothing was written to is that of a log that was being made', () =>
    onHost({}, async host => {
      const [name] = await plant(host, () => Promise.resolve())
      assert.match(name, /^topic-0\.[0-9a-f]{32}-stray$/)
      assert.equal(append(host.log()), 0, 'it is made anew')
    }))

  const appendOne = (log: SegmentedLog, host: Host) => {
    append(log)
    return written(host, log)
  }

  for (const [what, prepare] of [
    ['that holds something', appendOne],
    ['that once held something', log => log.truncateFullyAndStartAt(5)],
    ['that a checkpoint knows', log => log.flush().then(() => log.directory.saveCheckpoints())],
  ] satisfies [string, (log: SegmentedLog, host: Host) => Promise<unknown>][])
    test(`in a log ${what} is damage, and it stays where it is`, () =>
      onHost({}, async host => {
        assert.deepEqual(await plant(host, log => prepare(log, host)), ['topic-0'])
      }))
})

test('a log whose namesake was compacted is not taken for compacted, also when Kafka has stopped in between', () =>
  onHost({}, async host => {
    append(await host.openLog(), { count: 9 })
    await written(host, host.log())
    await host.close()
    host.io = host.node.start()
    // Kafka marks the directory clean without a word on logs that its cleaner has not looked at.
    await writeOffsetCheckpoint(host.io.disk, '/data', 'cleaner-offset-checkpoint', [
      { topic: 'topic', partition: 0, offset: 6 },
    ])
    host.io.disk.writeSmallFile('/data/topic-0/millrace-namesake', Buffer.alloc(0))
    host.node.crash('kill')
    const log = await host.openLog()
    assert.deepEqual([log.nextOffset, log.cleanedOffset], [9, undefined])
    assert.deepEqual(host.faults.damage, [])
    await host.close()
    assert.deepEqual(readOffsetCheckpoint(host.node.start().disk, '/data', 'cleaner-offset-checkpoint'), new Map())
  }))

describe('a deleted log', () => {
  test('is gone at once, its name free, and what is being sent of it still good', () =>
    onHost({ limits: { fileRangeFromBytes: 1 }, config: { fileDeleteDelayMs: 5000 } }, async host => {
      const log = await host.openLog()
      append(log, { count: 3 })
      await written(host, log)
      const read = await log.read({ offset: 0, maxBytes: 1000, minOneBatch: true, isolation: 'logEndOffset' })
      assert.ok(read.type === 'read')
      append(log)
      host.directories.delete(log)

      assert.equal(host.directories.get(topicId, 0), undefined)
      const refused = tryAppend(log, batchOf())
      assert.ok(typeof refused === 'object' && refused.errorCode === ErrorCode.kafkaStorageError)
      const { config } = host
      const created = host.directories.create({ topic: 'topic', topicId: otherTopicId, partition: 0, config })
      assert.ok(created.type === 'created')
      append(created.log)
      await written(host, created.log)
      assert.equal((await readAll(created.log)).length, 1, 'nothing of the old topic')
      await host.world.sleep(6000)
      assert.ok(!names(host).some(name => name.endsWith('-delete')))
      assert.equal((await bytesOf(read)).length, read.byteLength)
      assert.deepEqual(host.faults.events, [])
    }))

  for (const crash of ['kill', 'power'] as const)
    test(`leaves nothing to a new one of its name, also after ${crash}`, () =>
      onHost({}, async host => {
        host.directories = await host.open({ intervals: { logStartCheckpointMs: 100, recoveryPointCheckpointMs: 100 } })
        append(host.log(), { count: 9 })
        await host.log().flush()
        host.log().moveHighWatermark(9)
        await host.log().moveLogStart(9)
        await host.world.sleep(500)
        const directory = host.directories.directories[0]
        assert.equal(
          readOffsetCheckpoint(host.io.disk, directory.path, 'log-start-offset-checkpoint')?.get('topic-0'),
          9,
        )
        host.directories.delete(host.log())
        const { config } = host
        const created = host.directories.create({ topic: 'topic', topicId: otherTopicId, partition: 0, config })
        assert.ok(created.type === 'created')
        append(created.log, { count: 3 })
        await written(host, created.log)
        if (crash === 'power') await created.log.flush()
        host.node.crash(crash)
        await host.open()
        const again = host.directories.get(otherTopicId, 0)
        assert.deepEqual([again?.logStartOffset, again?.logEndOffset], [0, 3])
        assert.deepEqual(host.faults.damage, [])
      }))

  test('leaves nothing to a new one of its name, also when its checkpoints were just being written', async () => {
    for (let seed = 0; seed < 150; seed++) {
      await onHost({ seed }, async host => {
        const some = host.world.random('when')
        host.directories = await host.open()
        append(host.log(), { count: 9 })
        await written(host, host.log())
        await host.log().flush()
        host.log().moveHighWatermark(9)
        const ignored = () => undefined
        void host.log().moveLogStart(9).catch(ignored)
        void host.directories.directories[0].saveRecoveryPoints()
        await host.world.sleep(some.below(14))
        host.directories.delete(host.log())
        const { config } = host
        const created = host.directories.create({ topic: 'topic', topicId: otherTopicId, partition: 0, config })
        assert.ok(created.type === 'created')
        append(created.log, { count: 3 })
        await written(host, created.log)
        void created.log.flush().catch(ignored)
        await host.world.sleep(some.below(12))
        host.node.crash('kill')
        await host.open()
        const again = host.directories.get(otherTopicId, 0)
        assert.deepEqual([again?.logStartOffset, again?.logEndOffset], [0, 3], `seed ${seed}`)
        assert.deepEqual([host.faults.damage, host.faults.events], [[], []], `seed ${seed}`)
      })
    }
  })

  test('whose directory a full disk keeps from being renamed keeps its name until there is room', () =>
    onHost({}, async host => {
      const log = await host.openLog()
      append(log, { count: 3 })
      await written(host, log)
      host.node.disk.faults.failNext('rename', 'noSpace')
      host.directories.delete(log)
      const { config } = host
      const request = { topic: 'topic', topicId: otherTopicId, partition: 0, config }
      assert.equal(host.directories.create(request).type, 'refused')
      await host.world.sleep(5000)
      const created = host.directories.create(request)
      assert.ok(created.type === 'created')
      append(created.log)
      await written(host, created.log)
      assert.equal((await readAll(created.log)).length, 1)
    }))

  test('is removed once more when a file has appeared in it meanwhile', () =>
    onHost({ config: { fileDeleteDelayMs: 0 } }, async host => {
      const log = await host.openLog()
      host.node.disk.faults.failNext('remove', 'notEmpty', { pathEnd: '-delete', times: 3 })
      host.directories.delete(log)
      await host.world.sleep(1000)
      assert.ok(!names(host).some(name => name.endsWith('-delete')))
      assert.deepEqual(host.faults.events, [])
    }))

  test('is removed by the next start, if this one did not come to it', () =>
    onHost({}, async host => {
      host.directories = await host.open()
      append(host.log())
      host.directories.delete(host.log())
      host.node.crash('kill')
      await host.open()
      assert.ok(names(host).some(name => name.endsWith('-delete')))
      await host.world.sleep(3000)
      assert.ok(!names(host).some(name => name.endsWith('-delete')))
    }))

  test('while it is flushed, rolled and retained is no fault of the disk', async () => {
    for (let seed = 0; seed < 30; seed++) {
      await onHost({ seed, config: { segmentBytes: 500, retentionBytes: 1000 } }, async host => {
        const log = await host.openLog()
        for (let index = 0; index < 20; index++) append(log, { valueBytes: 60 })
        log.flush().catch(() => undefined)
        if (seed % 2 === 0) await written(host, log)
        void log.applyRetention(1e13)
        await host.world.sleep(host.world.random('when').between(0, 30))
        host.directories.delete(log)
        await host.world.sleep(500)
        assert.deepEqual(host.faults.events, [])
      })
    }
  })
})

test('the metadata log is read anew at every start, and keeps its start', () =>
  onHost({}, async host => {
    await host.open()
    const claim = host.directories.directories[0]!
    const open = () => openMetadataLog(host.context, claim, defaultLogConfig)
    const first = await open()
    for (let index = 0; index < 10; index++) tryAppend(first.log, batchOf(), { origin: 'raftLeader', leaderEpoch: 2 })
    await written(host, first.log)
    await first.log.flush()
    first.log.moveHighWatermark(10)
    await first.log.moveLogStart(4)
    host.node.crash('power')

    await host.open()
    assert.deepEqual([...host.directories.logs], [], 'it is none of the broker’s partitions')
    const again = await openMetadataLog(host.context, host.directories.directories[0]!, defaultLogConfig)
    assert.deepEqual([again.log.logStartOffset, again.log.logEndOffset, again.log.latestEpoch], [4, 10, 2])
    assert.deepEqual(again.damage, [])
    await again.close()
  }))

test('damage that a scrub finds is told and no longer served', () =>
  onHost({ config: { segmentBytes: 3000 } }, async host => {
    const log = await host.openLog()
    for (let index = 0; index < 40; index++) {
      append(log, { valueBytes: 100 })
      await written(host, log)
    }
    const batches = await readAll(log)
    const position = batches[0]!.length * 3 + 70
    host.node.disk.flip('data/topic-0/00000000000000000000.log', position, 1)
    let cursor: Awaited<ReturnType<typeof log.scrub>>['next']
    let bytes = 0
    do {
      const step = await log.scrub(cursor, 1000)
      cursor = step.next
      bytes += step.bytes
    } while (cursor !== undefined)
    assert.deepEqual(
      host.faults.damage.map(({ offset, position: at }) => [offset, at]),
      [[3, batches[0]!.length * 3]],
    )
    assert.equal(bytes, log.sizeBytes - batches[3]!.length)
    const read = await log.read({ offset: 3, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' })
    assert.deepEqual(read, { type: 'refused', errorCode: ErrorCode.corruptMessage })
    const after = await bytesOf(log.read({ offset: 4, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' }))
    assert.deepEqual(after, batches[4])
  }))

describe('damage with batches behind it, of which no sync is known,', () => {
  async function damaged(host: Host, bootId: string | undefined): Promise<void> {
    await host.open({ bootId })
    const log = host.log()
    for (let index = 0; index < 10; index++) append(log)
    await written(host, log)
    const position = log.sizeBytes / 2 + 70
    host.node.disk.flip('data/topic-0/00000000000000000000.log', position, 1)
    host.node.crash('kill')
    await host.open({ bootId: bootId === undefined ? undefined : 'this one' })
  }

  test('ends the log after a power cut, and is told', () =>
    onHost({}, async host => {
      for (const bootId of [undefined, 'another']) {
        await damaged(host, bootId)
        assert.equal(host.log().logEndOffset, 5)
        assert.deepEqual(
          host.faults.damage.map(({ offset }) => offset),
          [5],
        )
        host.node.crash('power')
        host.node.disk.wipe()
      }
    }))

  test('stays where it is when the machine has not restarted: the disk has lost nothing', () =>
    onHost({}, async host => {
      await damaged(host, 'this one')
      const log = host.log()
      assert.equal(log.logEndOffset, 10)
      assert.deepEqual(
        host.faults.damage.map(({ offset }) => offset),
        [5],
      )
      const read = (offset: number) => log.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' })
      assert.deepEqual(await read(5), { type: 'refused', errorCode: ErrorCode.corruptMessage })
      assert.ok((await bytesOf(read(6))).length > 0)
    }))
})

test('a directory is formatted once', () =>
  onHost({}, async host => {
    await host.open()
    await formatDirectory(host.context, '/new', { clusterId: 'c', nodeId: 3, directoryId: otherTopicId })
    const claim = await claimDirectory(host.context, '/new')
    assert.ok(claim.type === 'claimed' && claim.cleanShutdown === undefined)
    assert.equal(claim.directory.id, otherTopicId)
  }))

test('a swap that a crash has interrupted is completed: the segments it was made from are gone, the batches are there', () =>
  onHost({ config: { segmentBytes: 1000, isCompacted: true } }, async host => {
    const log = await host.openLog()
    for (let index = 0; index < 30; index++) {
      append(log, { valueBytes: 60 })
      await written(host, log)
    }
    const batches = await readAll(log)
    await host.close()
    const logs = host.node.disk.files().filter(({ path }) => path.endsWith('.log'))
    const [first, second] = logs.sort((a, b) => (a.path < b.path ? -1 : 1))
    host.io = host.node.start()
    host.io.disk.writeSmallFile(`/${first!.path}.swap`, Buffer.concat([first!.bytes, second!.bytes]))
    host.io.disk.writeSmallFile(`/${second!.path}.deleted`, second!.bytes)
    host.node.crash('kill')

    await host.open()
    assert.equal(host.log().inspect().segments.length, logs.length - 1)
    assert.deepEqual(await readAll(host.log()), batches)
    assert.ok(!host.node.disk.files().some(({ path }) => /\.(swap|deleted)$/.test(path)))
    assert.deepEqual(host.faults.damage, [])
  }))

test('nothing is done to the files of directories that have been given up', async () => {
  for (let seed = 0; seed < 24; seed++) {
    await onHost({ seed }, async host => {
      const log = await host.openLog()
      append(log)
      await written(host, log)
      log.flush().catch(() => undefined)
      if (seed % 2 === 1) host.directories.directories[0]!.saveCheckpoints().catch(() => undefined)
      for (let turn = seed % 12; turn > 0; turn--) await host.io.clock.yieldTurn()
      await host.directories.giveUp()
      const done: string[] = []
      host.node.disk.faults.decide = (operation, path) => {
        done.push(`${operation} ${path}`)
        return undefined
      }
      await host.world.sleep(3000)
      assert.deepEqual(done, [], `seed ${seed}`)
    })
  }
})

test('nor to those of the metadata log, whose checkpoint was being written', async () => {
  for (let seed = 0; seed < 24; seed++) {
    await onHost({ seed }, async host => {
      await host.open()
      const { log, giveUp } = await openMetadataLog(host.context, host.directories.directories[0]!, defaultLogConfig)
      tryAppend(log, batchOf(), { origin: 'raftLeader', leaderEpoch: 2 })
      await written(host, log)
      await log.flush()
      // Now and then it is saved.
      await host.world.sleep(9998 + (seed % 6))
      await giveUp()
      await host.directories.giveUp()
      const done: string[] = []
      host.node.disk.faults.decide = (operation, path) => {
        done.push(`${operation} ${path}`)
        return undefined
      }
      await host.world.sleep(30_000)
      assert.deepEqual(done, [], `seed ${seed}`)
    })
  }
})
