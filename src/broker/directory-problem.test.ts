import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../config/load-config.ts'
import { type Disk, DiskError } from '../io/disk.ts'
import type { Io } from '../io/io.ts'
import { World } from '../simulator/io/world.ts'
import { Broker } from './broker.ts'
import { directoryProblem, remedyFor } from './directory-problem.ts'
import { onBrokerHost } from './fixture.test.ts'
import { StartError } from './start-error.ts'

test('a line for each reason names the directory and what to do', () => {
  for (const code of ['readOnly', 'notPermitted', 'noSpace', 'notFound', 'tooManyOpenFiles', 'io'] as const) {
    const text = directoryProblem('/data', new DiskError(code, 'lock', '/data/.lock', new Error('EIO: i/o error')))
    assert.match(text, /\/data[ :].*(set another log\.dirs|raise its limit)/, code)
    assert.doesNotMatch(text, /\n|\.lock/, code)
  }
})

test('a file that cannot be read is named', () => {
  for (const code of ['notPermitted', 'io'] as const) {
    const text = directoryProblem('/data', new DiskError(code, 'read', '/data/topic-0/file', new Error('EISDIR')))
    assert.match(text, /^\/data\/topic-0\/file (cannot|may not) be used.*set another log\.dirs$/, code)
  }
})

test('what nobody may change is no matter of whose it is', () => {
  const cause = Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM' })
  const error = new DiskError('notPermitted', 'remove', '/data/topic-0/file', cause)
  for (const text of [directoryProblem('/data', error), remedyFor(error)]) {
    assert.match(text, /may not be changed by anyone.*lsattr.*chattr -i/)
    assert.doesNotMatch(text, /chown/)
  }
  assert.match(directoryProblem('/data', error), /^\/data or what is in it may not/)
})

test('a file of the metadata that cannot be read is told in one line that names it', () =>
  onBrokerHost({ overrides: ['metadata.log.max.record.bytes.between.snapshots=1'] }, async host => {
    await host.start()
    await host.createTopic('topic')
    await host.world.sleep(1000)
    await host.close()
    const snapshots = host.node.disk.files().filter(({ path }) => path.endsWith('.checkpoint'))
    const latest = snapshots
      .map(({ path }) => path)
      .sort()
      .at(-1)!
    const places = [
      ['open', latest],
      ['read', '/data/__cluster_metadata-0/quorum-state'],
      ['read', '/data/__cluster_metadata-0/leader-epoch-checkpoint'],
    ] as const
    for (const [operation, path] of places) {
      host.node.disk.faults.failNext(operation, 'notPermitted', { pathEnd: path })
      await assert.rejects(host.start(), (error: unknown) => {
        assert.ok(error instanceof StartError, String(error))
        assert.ok(
          error.message.startsWith(`${path.startsWith('/') ? '' : '/'}${path} may not be used by this user`),
          error.message,
        )
        return true
      })
      host.crash('kill')
      host.node.disk.faults.forgetOrdered()
    }
  }))

test('a start on a data directory that takes no new files is refused with one line, though its files can be written', () =>
  onBrokerHost({}, async host => {
    await host.start()
    await host.close()
    host.node.disk.faults.failNext('write', 'notPermitted', { pathEnd: '/data/millrace-probe.tmp' })
    await assert.rejects(
      host.start(),
      /^StartError: \/data cannot be written by this user: give the user the directory/,
    )
    host.crash('kill')
    await host.start()
    await host.close()
  }))

test('a start on a data directory that is read-only says so, whether it is formatted or not', async () => {
  const world = new World({ seed: 1 })
  const node = world.addNode('broker')
  const loaded = loadConfig({ overrides: ['log.dirs=/data', 'listeners=PLAINTEXT://broker:9092'], environment: {} })
  assert.ok(loaded.type === 'loaded')
  const start = (io: Io) =>
    Broker.start({ io, loaded, hostName: 'broker', formatsEmptyDirectories: true, failed: () => {} })
  const refused = (error: unknown) => {
    assert.ok(error instanceof StartError)
    assert.match(error.message, /^\/data is on a file system that is mounted read-only: mount it for writing/)
    return true
  }
  await world.finish(
    (async () => {
      const empty = node.start()
      await assert.rejects(start({ ...empty, disk: readOnly(empty.disk) }), refused)
      node.crash('kill')
      const first = await start(node.start())
      await first.close()
      node.crash('kill')
      const again = node.start()
      await assert.rejects(start({ ...again, disk: readOnly(again.disk) }), refused)
    })(),
  )
})

/** A disk whose file system is mounted read-only. */
function readOnly(disk: Disk): Disk {
  const refuse = (operation: string) => (path: string) => {
    throw new DiskError('readOnly', operation, path)
  }
  const refusing = { makeDirectory: refuse('makeDirectory'), lock: refuse('lock'), writeSmallFile: refuse('write') }
  return new Proxy(disk, {
    get: (target, name) => {
      if (Object.hasOwn(refusing, name)) return refusing[name as keyof typeof refusing]
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
