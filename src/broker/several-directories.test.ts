import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import type { Disk } from '../io/disk.ts'
import { listOffsetsRequest, listOffsetsResponse } from '../protocol/messages/list-offsets.ts'
import type { DiskOperation } from '../simulator/io/disk-faults.ts'
import { type BrokerHost, onBrokerHost } from './fixture.test.ts'
import { StartError } from './start-error.ts'

const options = { logDirs: ['/data', '/more'] }
const listOffsetsApi = { request: listOffsetsRequest, response: listOffsetsResponse }

/** `first` lies in /data, which is the metadata's directory too, and `second` in /more. */
async function fill(host: BrokerHost): Promise<void> {
  await host.start()
  for (const topic of ['first', 'second']) {
    await host.createTopic(topic)
    assert.equal((await host.produce(topic)).errorCode, ErrorCode.none)
  }
}

/** Copies a directory without those in it. */
function copy(host: BrokerHost, from: string, to: string): void {
  const { disk } = host.node.start()
  disk.makeDirectory(to)
  for (const { name } of disk.list(from)) {
    disk.writeSmallFile(`${to}/${name}`, disk.readSmallFile(`${from}/${name}`, 1 << 20)!)
  }
  host.node.crash('kill')
}

/** What somebody does to the disk while no broker runs. */
async function changeDisk(host: BrokerHost, how: (disk: Disk) => void | Promise<void>): Promise<void> {
  await how(host.node.start().disk)
  host.node.crash('kill')
}

describe('a log directory that has failed when the broker starts', () => {
  const faults: [DiskOperation, string][] = [
    ['read', '/more/meta.properties'],
    ['read', '/more/.kafka_cleanshutdown'],
    ['read', '/more/recovery-point-offset-checkpoint'],
    ['read', '/more/second-0/partition.metadata'],
    ['status', '/more'],
    ['lock', '/more/.lock'],
    ['write', '/more/millrace-probe.tmp'],
    ['list', '/more'],
    ['list', '/more/second-0'],
  ]
  for (const [operation, pathEnd] of faults) {
    test(`(${operation} ${pathEnd}) is left out: its partitions wait for it, and are not made anew elsewhere`, () =>
      onBrokerHost(options, async host => {
        await fill(host)
        await host.close()
        // Twice where the start asks twice: a disk that fails goes on failing.
        host.node.disk.faults.failNext(operation, 'io', { pathEnd, times: operation === 'list' ? 2 : 1 })
        await host.start()
        assert.equal((await host.produce('second')).errorCode, ErrorCode.kafkaStorageError)
        assert.equal((await host.fetch('second')).errorCode, ErrorCode.kafkaStorageError)
        assert.equal((await host.produce('first')).baseOffset, 1)
        await host.createTopic('third')
        assert.equal((await host.produce('third')).errorCode, ErrorCode.none)
        await host.world.sleep(100_000)
        assert.equal((await host.produce('second')).errorCode, ErrorCode.kafkaStorageError)
        await host.close()

        host.node.disk.faults.forgetOrdered()
        await host.start()
        assert.equal((await host.produce('second')).baseOffset, 1)
        assert.equal((await host.produce('first')).baseOffset, 2)
        await host.close()
      }))
  }

  test('(meta.properties says nothing) is left out as well, unless it is the one with the metadata', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      await host.close()
      const spoil = (directory: string) => {
        const { disk } = host.node.start()
        disk.writeSmallFile(`${directory}/meta.properties`, Buffer.from('version=7'))
        host.node.crash('kill')
      }
      spoil('/more')
      await host.start()
      assert.equal((await host.produce('second')).errorCode, ErrorCode.kafkaStorageError)
      assert.equal((await host.produce('first')).baseOffset, 1)
      assert.equal(host.linesWith('log directory /more cannot be used').length, 1)
      await host.close()
      spoil('/data')
      await assert.rejects(host.start(), /\/data\/meta.properties cannot be used: version 7 is unknown/)
    }))

  test('(a file in its place) is left out as well', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      await host.close()
      await changeDisk(host, disk => {
        disk.rename('/more', '/elsewhere')
        disk.writeSmallFile('/more', Buffer.from('x'))
      })
      await host.start()
      assert.equal((await host.produce('second')).errorCode, ErrorCode.kafkaStorageError)
      assert.equal((await host.produce('first')).baseOffset, 1)
      assert.equal(host.linesWith('log directory /more cannot be used').length, 1)
      await host.close()
      await changeDisk(host, async disk => {
        await disk.remove('/more')
        disk.rename('/elsewhere', '/more')
      })
      await host.start()
      assert.equal((await host.produce('second')).baseOffset, 1)
      await host.close()
    }))

  test('is told when nothing more is done in it', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      for (const topic of ['third', 'fourth']) await host.createTopic(topic)
      const log = '/more/second-0/00000000000000000000.log'
      const { length } = host.node.disk.files().find(({ path }) => `/${path}` === log)!.bytes
      for (let count = 0; count < 2; count++) await host.produce('second')
      host.crash('kill')
      assert.ok(host.node.disk.flip(log, length + 70, 1))
      // The other is being recovered when this one cannot be read.
      host.node.disk.faults.failNext('read', 'io', { pathEnd: '/more/fourth-0/partition.metadata' })
      await host.start()
      await host.world.sleep(1000)
      const lines = host.world.log.lines.filter(({ message }) => /^(log directory )?\/more\b/.test(message))
      assert.match(lines.at(-1)!.message, /^log directory \/more is offline/)
      await host.close()
    }))

  test('ends the start when it is the one with the metadata, or is not mounted', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      await host.close()
      host.node.disk.faults.failNext('read', 'io', { pathEnd: '/data/meta.properties' })
      await assert.rejects(host.start(), /^StartError: \/data\/meta.properties cannot be used: read/)
      host.node.crash('kill')
      const change = (how: (disk: Disk) => void | Promise<void>) => changeDisk(host, how)
      await change(disk => disk.rename('/more', '/elsewhere'))
      const refused =
        /^StartError: \/more is not formatted, and others .*Mount its disk; if it is new, run: .*--ignore-formatted/
      await assert.rejects(host.start(), refused)
      host.node.crash('kill')
      // As a mount point may look without its disk.
      await change(disk => disk.makeDirectory('/more/lost+found'))
      await assert.rejects(host.start(), refused)
      host.node.crash('kill')
      await change(disk => disk.remove('/more'))
      await change(disk => disk.rename('/elsewhere', '/more'))
      await change(disk => disk.rename('/data', '/elsewhere'))
      await assert.rejects(
        host.start(),
        /^StartError: \/data is not formatted, and others .*metadata of their cluster is missing/,
      )
      host.node.crash('kill')
      await change(disk => disk.rename('/elsewhere', '/data'))
      await host.start()
      assert.equal((await host.produce('second')).baseOffset, 1)
      await host.close()
    }))
})

describe('a log directory that log.dirs has no more', () => {
  test('is missed: what lay in it waits for it, and is not made anew elsewhere, also at later starts', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      await host.close()
      host.logDirs = ['/data']
      for (let start = 0; start < 2; start++) {
        await host.start()
        assert.equal((await host.fetch('second')).errorCode, ErrorCode.kafkaStorageError)
        assert.equal((await host.produce('first')).baseOffset, start + 1)
        assert.equal(host.linesWith('/more at an earlier start and that log.dirs has no more').length, start + 1)
        await host.createTopic(`new-${start}`)
        await host.close()
      }
      host.logDirs = options.logDirs
      await host.start()
      assert.equal((await host.produce('second')).baseOffset, 1)
      await host.close()
    }))

  test('may have another path', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      await host.close()
      await changeDisk(host, disk => disk.rename('/more', '/elsewhere'))
      host.logDirs = ['/data', '/elsewhere']
      await host.start()
      assert.equal((await host.produce('second')).baseOffset, 1)
      await host.close()
    }))

  test('is forgotten when nothing is missed of it, or by whoever removes the note', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      await host.close()
      await changeDisk(host, disk => disk.rename('/more/second-0', '/data/second-0'))
      host.logDirs = ['/data']
      await host.start()
      assert.equal((await host.produce('second')).baseOffset, 1)
      await host.close()
      await changeDisk(host, disk => disk.remove('/data/second-0'))
      await host.start()
      assert.equal((await host.produce('second')).baseOffset, 0, 'of a directory removed by hand nothing is known')
      await host.close()

      host.logDirs = options.logDirs
      await host.start()
      await host.createTopic('third')
      await host.createTopic('fourth')
      await host.close()
      host.logDirs = ['/data']
      await host.start()
      assert.equal((await host.produce('third')).errorCode, ErrorCode.kafkaStorageError)
      await host.close()
      await changeDisk(host, disk => disk.remove('/data/millrace-log-dirs'))
      await host.start()
      assert.equal((await host.produce('third')).baseOffset, 0)
      await host.close()
    }))
})

describe('a directory that fails while the broker runs and that it cannot go on without', () => {
  test('stops it with one line that names it and what to do, and no stack', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      host.node.disk.faults.failNext('append', 'io', { pathEnd: '/data/first-0/00000000000000000000.log' })
      assert.notEqual((await host.produce('first')).errorCode, ErrorCode.none)
      const stops = host.world.log.lines.filter(({ message }) => message.startsWith('the broker stops'))
      assert.equal(stops.length, 1)
      assert.match(stops[0]!.message, /the metadata directory \/data has failed: append .*\. \w+/)
      assert.deepEqual(stops[0]!.fields, {})
    }))
})

test('partitions of a directory that fails while the broker runs answer KAFKA_STORAGE_ERROR, and the others go on', () =>
  onBrokerHost(options, async host => {
    await fill(host)
    host.node.disk.faults.failNext('append', 'io', { pathEnd: '/more/second-0/00000000000000000000.log' })
    // The write that fails, and what finds the directory offline.
    for (let count = 0; count < 2; count++)
      assert.equal((await host.produce('second')).errorCode, ErrorCode.kafkaStorageError)
    assert.equal((await host.fetch('second')).errorCode, ErrorCode.kafkaStorageError)
    const asked = { topics: [{ name: 'second', partitions: [{ partitionIndex: 0, timestamp: -1n }] }], replicaId: -1 }
    const { topics } = await host.ask(listOffsetsApi, asked, 7)
    assert.equal(topics[0].partitions[0].errorCode, ErrorCode.kafkaStorageError)
    assert.equal((await host.produce('first')).errorCode, ErrorCode.none)
  }))

test('they do so whatever leader epoch a client believes in', () =>
  onBrokerHost(options, async host => {
    await fill(host)
    await host.close()
    await host.start()
    const ask = async (currentLeaderEpoch: number) => {
      const partitions = [{ partitionIndex: 0, timestamp: -1n, currentLeaderEpoch }]
      const { topics } = await host.ask(listOffsetsApi, { topics: [{ name: 'second', partitions }], replicaId: -1 }, 7)
      return [topics[0].partitions[0].errorCode, (await host.fetch('second', 0, { currentLeaderEpoch })).errorCode]
    }
    const epoch = host.broker.partitions.byName('second', 0)!.leaderEpoch
    assert.ok(epoch > 0)
    const { fencedLeaderEpoch, unknownLeaderEpoch, kafkaStorageError } = ErrorCode
    assert.deepEqual(await ask(epoch - 1), [fencedLeaderEpoch, fencedLeaderEpoch])
    assert.deepEqual(await ask(epoch + 1), [unknownLeaderEpoch, unknownLeaderEpoch])
    host.node.disk.faults.failNext('append', 'io', { pathEnd: '/more/second-0/00000000000000000000.log' })
    for (let count = 0; count < 2; count++) await host.produce('second')
    for (const believed of [epoch - 1, epoch, epoch + 1])
      assert.deepEqual(await ask(believed), [kafkaStorageError, kafkaStorageError])
  }))

describe('a partition that lies in two log directories', () => {
  test('ends the start with one line that names both, and changes neither', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      await host.close()
      copy(host, '/more/second-0', '/data/second-0')
      const partitions = () => host.node.disk.files().filter(({ path }) => path.includes('second-0'))
      const before = partitions()
      await assert.rejects(host.start(), (error: Error) => {
        assert.ok(error instanceof StartError)
        assert.match(error.message, /^log\.dirs: \/data\/second-0 and \/more\/second-0 are the same partition/)
        return true
      })
      assert.deepEqual(partitions(), before)
      host.node.crash('kill')
      await host.node.start().disk.remove('/data/second-0')
      host.node.crash('kill')
      await host.start()
      assert.equal((await host.produce('second')).baseOffset, 1)
      await host.close()
    }))

  const suffix = '.0123456789abcdef0123456789abcdef'
  for (const kind of ['future', 'delete', 'stray']) {
    test(`once as a -${kind} directory is no such case`, () =>
      onBrokerHost(options, async host => {
        await fill(host)
        await host.close()
        copy(host, '/more/second-0', `/data/second-0${suffix}-${kind}`)
        await host.start()
        assert.equal((await host.produce('second')).baseOffset, 1)
        await host.close()
      }))
  }

  test('once of an earlier topic of that name is no such case', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      await host.close()
      copy(host, '/more/second-0', '/old-0')
      await host.start()
      await host.deleteTopic('second')
      await host.createTopic('second')
      await host.produce('second')
      await host.close()
      host.node.start().disk.rename('/old-0', '/data/second-0')
      host.node.crash('kill')
      await host.start()
      assert.equal((await host.produce('second')).baseOffset, 1)
      await host.close()
    }))
})
