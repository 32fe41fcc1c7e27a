import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { diskConformance } from '../../io/conformance/disk-conformance.ts'
import { type Disk, type DiskError, type DiskFile, replaceFile } from '../../io/disk.ts'
import type { SimulatedNode } from './simulated-node.ts'
import { World } from './world.ts'

for (const seed of [1, 2, 3])
  diskConformance(`the simulated one (seed ${seed})`, () => {
    const world = new World({ seed })
    const node = world.addNode('node')
    const { disk } = node.start()
    disk.makeDirectory('/data')
    const failNextAppend = (path: string) => node.disk.faults.failNext('append', 'io', { pathEnd: path })
    const subject = { disk, directory: '/data', failNextAppend }
    return { subject, run: body => world.finish(body()), dispose: async () => undefined }
  })

interface Setting {
  readonly world: World
  readonly node: SimulatedNode
  readonly disk: Disk
}

/** Runs the body with many seeds and answers what it found, to be asserted on as a whole. */
async function forSeeds<T>(count: number, body: (setting: Setting) => Promise<T>): Promise<T[]> {
  const found: T[] = []
  for (let seed = 0; seed < count; seed++) {
    const world = new World({ seed })
    const node = world.addNode('node')
    const { disk } = node.start()
    found.push(await body({ world, node, disk }))
  }
  return found
}

function append(file: DiskFile, bytes: Buffer | string): Promise<DiskError | undefined> {
  return new Promise(resolve => file.append([Buffer.from(bytes)], resolve))
}

/** A directory and a file in it that would survive a power cut, with these bytes. */
async function syncedFile({ disk }: Setting, content: Buffer | string): Promise<DiskFile> {
  disk.makeDirectory('/d')
  await disk.syncDirectory('/')
  const file = disk.open('/d/log', 'create')
  await append(file, content)
  await file.sync()
  await disk.syncDirectory('/d')
  return file
}

function contentAfter(node: SimulatedNode, path = 'd/log'): Buffer | undefined {
  return node.disk.files().find(file => file.path === path)?.bytes
}

describe('a process crash', () => {
  test('keeps completed appends, and of those in flight a prefix of their bytes', async () => {
    const lengths = await forSeeds(60, async setting => {
      const { world, node, disk } = setting
      const file = disk.open('/log', 'append')
      await world.finish(append(file, 'done.'))
      let completed = 0
      for (let i = 0; i < 6; i++) file.append([Buffer.from('in flight.')], () => completed++)
      await world.advance(0.05)
      node.crash('kill')
      const content = String(contentAfter(node, 'log'))
      const whole = `done.${'in flight.'.repeat(6)}`
      assert.ok(whole.startsWith(content))
      assert.ok(content.length >= 5 + completed * 10)
      const completedAtCrash = completed
      await world.advance(10_000)
      assert.equal(completed, completedAtCrash)
      return content.length
    })
    assert.ok(lengths.some(length => length === 65))
    assert.ok(lengths.some(length => length < 65 && length > 5 && length % 10 !== 5))
  })

  test('leaves what was in flight for the next process to sync', async () => {
    await forSeeds(30, async setting => {
      const { world, node } = setting
      const file = await world.finish(syncedFile(setting, 'done.'))
      file.append([Buffer.from('in flight.')], () => assert.fail('nobody is there to hear it'))
      node.crash('kill')
      const found = String(contentAfter(node))
      const again = node.start().disk.open('/d/log', 'append')
      await world.finish(again.sync())
      node.crash('power')
      assert.equal(String(contentAfter(node)), found)
    })
  })

  test('drops locks, timers and everything else that the dead process waited for', async () => {
    const world = new World({ seed: 4 })
    const node = world.addNode('node')
    const { clock, disk } = node.start()
    let ran = 0
    assert.ok(disk.lock('/.lock') !== undefined)
    const file = disk.open('/log', 'append')
    clock.after(5, () => ran++)
    clock.nextTurn(() => ran++)
    file.append([Buffer.from('x')], () => ran++)
    file.sync().then(() => ran++)
    file.read(0, 1).then(() => ran++)
    disk.remove('/log').then(() => ran++)
    node.crash('kill')
    assert.throws(() => disk.list('/'), { name: 'NodeIsDead' })
    file.append([Buffer.from('from the grave')], () => ran++)
    clock.after(1, () => ran++)
    await world.advance(60_000)
    assert.equal(ran, 0)
    assert.ok(node.start().disk.lock('/.lock') !== undefined)
    assert.ok(!String(contentAfter(node, 'log')).includes('grave'))
  })
})

describe('a power cut', () => {
  test('never takes what was synced, and leaves any part of what was not', async () => {
    const synced = Buffer.alloc(5000, 'S')
    const after = Buffer.alloc(9000, 'U')
    const kinds = await forSeeds(300, async setting => {
      const { world, node } = setting
      const file = await world.finish(syncedFile(setting, synced))
      await world.finish(append(file, after))
      node.crash('power')
      const content = contentAfter(node)
      assert.ok(content !== undefined && content.length >= 5000 && content.length <= 14000)
      assert.ok(content.subarray(0, 5000).equals(synced))
      const tail = content.subarray(5000)
      if (tail.length === 0) return 'dropped'
      if (tail.equals(after)) return 'kept'
      if (tail.equals(after.subarray(0, tail.length))) return 'shorter'
      return tail.every(byte => byte === 0 || byte === 0x55) ? 'with zeros' : 'garbage'
    })
    assert.deepEqual([...new Set(kinds)].sort(), ['dropped', 'garbage', 'kept', 'shorter', 'with zeros'])
  })

  test('may bring back what was truncated, but not mix it with what was appended since', async () => {
    const kinds = await forSeeds(300, async setting => {
      const { world, node } = setting
      const file = await world.finish(syncedFile(setting, Buffer.alloc(8192, 'O')))
      file.truncate(100)
      await world.finish(append(file, Buffer.alloc(8092, 'N')))
      node.crash('power')
      const content = String(contentAfter(node))
      assert.match(content.slice(0, 100), /^O{100}$/)
      if (content.length === 100) return 'cut'
      if (/^O+$/.test(content)) return 'old'
      if (/^N+$/.test(content.slice(100))) return 'new'
      assert.ok(!/[^O]O{16}/.test(content.slice(100)), 'old bytes stand behind new ones')
      return 'torn'
    })
    assert.deepEqual([...new Set(kinds)].sort(), ['cut', 'new', 'old', 'torn'])
  })

  test('takes names that were not synced, in their order, with the files behind them', async () => {
    const found = await forSeeds(200, async ({ world, node, disk }) => {
      disk.makeDirectory('/d')
      await world.finish(disk.syncDirectory('/'))
      for (const name of ['a', 'b', 'c']) {
        const file = disk.open(`/d/${name}`, 'create')
        await world.finish(append(file, name))
        await world.finish(file.sync())
      }
      node.crash('power')
      return node.disk.files().map(({ path, bytes }) => `${path}=${bytes}`)
    })
    const all = ['d/a=a', 'd/b=b', 'd/c=c']
    for (const files of found) assert.deepEqual(files, all.slice(0, files.length))
    assert.deepEqual([...new Set(found.map(files => files.length))].sort(), [0, 1, 2, 3])
  })

  test('leaves the old or the new content of a replaced file', async () => {
    const contents = await forSeeds(200, async ({ world, node, disk }) => {
      await world.finish(replaceFile(disk, '/checkpoint', Buffer.from('old')))
      const replaced = replaceFile(disk, '/checkpoint', Buffer.from('new!'))
      await world.advance(world.random('when').below(30))
      node.crash('power')
      replaced.catch(() => undefined)
      return String(contentAfter(node, 'checkpoint'))
    })
    assert.deepEqual([...new Set(contents)].sort(), ['new!', 'old'])
  })

  test('leaves nothing or zeros under a new name when the file was renamed without a sync', async () => {
    const contents = await forSeeds(300, async ({ world, node, disk }) => {
      disk.writeSmallFile('/x.tmp', Buffer.from('new'))
      disk.rename('/x.tmp', '/x')
      await world.finish(disk.syncDirectory('/'))
      node.crash('power')
      return String(contentAfter(node, 'x'))
    })
    assert.ok(contents.includes('new'))
    assert.ok(contents.includes(''))
  })

  test('moves a file between two directories whole or not at all', async () => {
    const places = await forSeeds(200, async ({ world, node, disk }) => {
      disk.makeDirectory('/from')
      disk.makeDirectory('/to')
      disk.writeSmallFile('/from/f', Buffer.from('x'))
      for (const path of ['/', '/from', '/to']) await world.finish(disk.syncDirectory(path))
      disk.writeSmallFile('/to/e', Buffer.from('x'))
      disk.rename('/from/f', '/to/f')
      disk.writeSmallFile('/to/g', Buffer.from('x'))
      node.crash('power')
      return node.disk
        .files()
        .map(file => file.path)
        .join()
    })
    assert.deepEqual([...new Set(places)].sort(), ['from/f', 'from/f,to/e', 'to/e,to/f', 'to/e,to/f,to/g'])
  })

  test('finds on the platter what the kernel wrote back on its own', async () => {
    await forSeeds(30, async ({ world, node, disk }) => {
      const file = disk.open('/log', 'append')
      await world.finish(append(file, 'long ago'))
      await world.advance(40_000)
      node.crash('power')
      assert.equal(String(contentAfter(node, 'log')), 'long ago')
    })
  })
})

describe('disk faults', () => {
  test('a failed sync loses pages although the next one succeeds', async () => {
    const contents = await forSeeds(100, async setting => {
      const { world, node } = setting
      const file = await world.finish(syncedFile(setting, 'good'))
      await world.finish(append(file, ' lost'))
      node.disk.faults.failNext('sync', 'io')
      await assert.rejects(world.finish(file.sync()), { code: 'io' })
      assert.equal(String(await world.finish(file.read(0, 100))), 'good lost')
      await world.finish(file.sync())
      node.crash('power')
      return String(contentAfter(node))
    })
    assert.deepEqual([...new Set(contents)].sort(), ['good', 'good lost'])
  })

  test('a full disk refuses appends and takes them again when something was removed', async () => {
    await forSeeds(20, async ({ world, node, disk }) => {
      disk.writeSmallFile('/old', Buffer.alloc(1000))
      node.disk.faults.freeBytes = 100
      const file = disk.open('/log', 'append')
      assert.equal(await world.finish(append(file, Buffer.alloc(80))), undefined)
      const error = await world.finish(append(file, Buffer.alloc(80)))
      assert.equal(error?.code, 'noSpace')
      file.truncate(80)
      await world.finish(disk.remove('/old'))
      assert.equal(await world.finish(append(file, Buffer.alloc(80))), undefined)
      assert.equal(await world.finish(disk.freeBytes('/')), 940)
      node.crash('power')
      assert.equal(
        node.disk.faults.freeBytes,
        1100 - (contentAfter(node, 'log')?.length ?? 0) - (contentAfter(node, 'old')?.length ?? 0),
      )
    })
  })

  test('a read-only disk is read and not changed', async () => {
    const [setting] = await forSeeds(1, async setting => setting)
    assert.ok(setting !== undefined)
    const { world, node, disk } = setting
    const file = await world.finish(syncedFile(setting, 'good'))
    node.disk.faults.readOnlyPath = '/'
    assert.equal(String(await world.finish(file.read(0, 4))), 'good')
    assert.equal((await world.finish(append(file, 'x')))?.code, 'readOnly')
    assert.throws(() => disk.rename('/d/log', '/d/other'), { code: 'readOnly' })
    assert.throws(() => disk.open('/new', 'append'), { code: 'readOnly' })
  })

  test('a stalled disk answers when the stall is over', async () => {
    const [setting] = await forSeeds(1, async setting => setting)
    assert.ok(setting !== undefined)
    const { world, node } = setting
    const file = await world.finish(syncedFile(setting, 'good'))
    node.disk.stall(5000)
    const startMs = world.nowMs
    await world.finish(file.sync())
    assert.ok(world.nowMs - startMs >= 5000)
  })

  test('flipped bits are read as they are', async () => {
    const [setting] = await forSeeds(1, async setting => setting)
    assert.ok(setting !== undefined)
    const { world, node } = setting
    const file = await world.finish(syncedFile(setting, 'good'))
    assert.ok(node.disk.flip('/d/log', 0, 1))
    assert.ok(!node.disk.flip('/d/log', 4, 1))
    assert.equal(String(await world.finish(file.read(0, 4))), 'food')
  })

  test('a write that was meant for another place is read where it landed, also after the power was cut', async () => {
    const [setting] = await forSeeds(1, async setting => setting)
    assert.ok(setting !== undefined)
    const { world, node } = setting
    const file = await world.finish(syncedFile(setting, 'here and there'))
    assert.ok(node.disk.damage('/d/log', 5, Buffer.from('was')))
    assert.ok(!node.disk.damage('/d/log', 12, Buffer.from('beyond')))
    assert.ok(!node.disk.damage('/d/nothing', 0, Buffer.from('x')))
    assert.equal(String(await world.finish(file.read(0, 100))), 'here was there')
    node.crash('power')
    assert.equal(String(contentAfter(node)), 'here was there')
  })

  test('a disk can be put back to an older copy of itself', async () => {
    const [setting] = await forSeeds(1, async setting => setting)
    assert.ok(setting !== undefined)
    const { world, node } = setting
    const file = await world.finish(syncedFile(setting, 'older'))
    const snapshot = node.disk.snapshot()
    await world.finish(append(file, ' newer'))
    node.crash('kill')
    node.disk.restore(snapshot)
    assert.equal(String(contentAfter(node)), 'older')
    node.disk.wipe()
    assert.deepEqual(node.disk.files(), [])
  })
})
