import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Disk, DiskError, type DiskErrorCode, type DiskFile, replaceFile } from '../disk.ts'
import { inHarness, type MakeHarness, watchTurn } from './harness.ts'

export interface DiskSubject {
  readonly disk: Disk
  /** An empty directory on it. */
  readonly directory: string
  /** Makes the next append to this file fail, for implementations that can. */
  readonly failNextAppend?: (path: string) => void
}

/** What every `Disk` must do. */
export function diskConformance(name: string, make: MakeHarness<DiskSubject>): void {
  const diskTest = (title: string, body: (subject: DiskSubject) => Promise<void>) => test(title, inHarness(make, body))
  describe(`${name} as a disk: files`, () => fileConformance(diskTest))
  describe(`${name} as a disk: names`, () => nameConformance(diskTest))
}

type DiskTest = (title: string, body: (subject: DiskSubject) => Promise<void>) => void

function fileConformance(diskTest: DiskTest): void {
  diskTest('appended bytes are read back, whole and in part', async ({ disk, directory }) => {
    const file = disk.open(`${directory}/log`, 'create')
    await append(file, 'hello ', 'wide ', 'world')
    assert.equal(file.sizeBytes, 16)
    assert.equal(String(await file.read(0, 16)), 'hello wide world')
    assert.equal(String(await file.read(6, 4)), 'wide')
    assert.equal(String(await file.read(11, 100)), 'world')
    assert.equal((await file.read(16, 1)).length, 0)
    const memory = Buffer.alloc(8)
    assert.equal(await file.readInto(11, memory), 5)
    assert.equal(memory.toString('latin1', 0, 5), 'world')
    assert.equal(await file.readInto(0, memory), 8)
    assert.equal(String(memory), 'hello wi')
    const target = Buffer.alloc(5)
    assert.equal(file.readNow(6, target), 5)
    assert.equal(String(target), 'wide ')
    assert.equal(file.readNow(14, target), 2)
    file.release()
  })

  diskTest('completions come once, in order, in a later turn', async ({ disk, directory }) => {
    const file = disk.open(`${directory}/log`, 'append')
    const order: number[] = []
    const turn = watchTurn()
    const all = Array.from({ length: 40 }, (_, number) => {
      return new Promise<void>(resolve => {
        file.append([Buffer.from(`${number},`)], error => {
          assert.equal(error, undefined)
          assert.ok(turn.isOver())
          order.push(number)
          resolve()
        })
      })
    })
    const expected = Array.from({ length: 40 }, (_, number) => number)
    assert.equal(file.sizeBytes, expected.map(number => `${number},`).join('').length)
    await Promise.all(all)
    assert.deepEqual(order, expected)
    assert.equal(String(await file.read(0, 1000)), `${expected.join(',')},`)
    file.release()
  })

  diskTest('the bytes of an append are the caller’s again when the call returns', async ({ disk, directory }) => {
    const file = disk.open(`${directory}/log`, 'append')
    const bytes = Buffer.alloc(100_000)
    const done: Promise<void>[] = []
    for (let round = 1; round <= 30; round++) {
      bytes.fill(round)
      done.push(append(file, bytes.subarray(0, 50_000), bytes.subarray(50_000)))
    }
    bytes.fill(255)
    await Promise.all(done)
    for (let round = 1; round <= 30; round++) {
      const read = await file.read((round - 1) * 100_000, 100_000)
      assert.ok(read.equals(Buffer.alloc(100_000, round)))
    }
    file.release()
  })

  diskTest('an append may be empty, and may have a thousand parts and more', async ({ disk, directory }) => {
    const file = disk.open(`${directory}/log`, 'append')
    await append(file)
    await append(file, '')
    await append(file, ...Array.from({ length: 3000 }, (_, number) => String(number % 10)))
    assert.equal(file.sizeBytes, 3000)
    assert.equal(String(await file.read(1230, 10)), '0123456789')
    file.release()
  })

  diskTest('a file opened again is appended to at its end', async ({ disk, directory }) => {
    const path = `${directory}/log`
    const first = disk.open(path, 'append')
    await append(first, 'one')
    first.release()
    const second = disk.open(path, 'append')
    assert.equal(second.sizeBytes, 3)
    await append(second, 'two')
    const reader = disk.open(path, 'read')
    assert.equal(String(await reader.read(0, 10)), 'onetwo')
    second.release()
    reader.release()
  })

  diskTest('write changes bytes inside of a file and leaves the rest', async ({ disk, directory }) => {
    const file = disk.open(`${directory}/index`, 'append')
    await append(file, 'aaaaaaaaaa')
    await file.write(3, Buffer.from('bbb'))
    await append(file, 'c')
    assert.equal(String(await file.read(0, 100)), 'aaabbbaaaac')
    file.release()
  })

  diskTest('truncate cuts, and extends with zeros; appends go on from there', async ({ disk, directory }) => {
    const file = disk.open(`${directory}/log`, 'append')
    await append(file, 'keep this, not that')
    file.truncate(9)
    assert.equal(file.sizeBytes, 9)
    await append(file, '!')
    file.truncate(12)
    await append(file, '?')
    assert.equal(String(await file.read(0, 100)), 'keep this!\0\0?')
    file.release()
  })

  diskTest('a sync succeeds with appends before and after it', async ({ disk, directory }) => {
    const file = disk.open(`${directory}/log`, 'append')
    await append(file, 'before')
    const synced = file.sync()
    const appended = append(file, 'after')
    await Promise.all([synced, appended, file.sync()])
    await disk.syncDirectory(directory)
    file.release()
  })

  diskTest('a file that is referenced can be read after it was removed', async ({ disk, directory }) => {
    const file = disk.open(`${directory}/log`, 'append')
    await append(file, 'still here')
    file.retain()
    file.release()
    await disk.remove(`${directory}/log`)
    assert.equal(disk.status(`${directory}/log`), undefined)
    assert.equal(String(await file.read(0, 100)), 'still here')
    file.release()
  })

  diskTest('an append that fails takes those in flight with it, until the file is cut', async subject => {
    const { disk, directory, failNextAppend } = subject
    if (failNextAppend === undefined) return
    const file = disk.open(`${directory}/log`, 'append')
    await append(file, 'good')
    failNextAppend(`${directory}/log`)
    const outcomes = ['bad', 'after'].map(text => appendOutcome(file, text))
    const errors = await Promise.all(outcomes)
    assert.ok(errors[0] instanceof DiskError)
    assert.ok(errors[1] instanceof DiskError)
    assert.ok((await appendOutcome(file, 'later')) instanceof DiskError)
    file.truncate(4)
    await append(file, ' again')
    assert.equal(String(await file.read(0, 100)), 'good again')
    file.release()
  })
}

function nameConformance(diskTest: DiskTest): void {
  diskTest('opening says what is there and what is not', async ({ disk, directory }) => {
    assertFails(() => disk.open(`${directory}/none`, 'read'), 'notFound')
    assertFails(() => disk.open(`${directory}/none/deeper`, 'append'), 'notFound')
    disk.open(`${directory}/here`, 'create').release()
    assertFails(() => disk.open(`${directory}/here`, 'create'), 'exists')
    disk.open(`${directory}/here`, 'read').release()
    assertFails(() => disk.open(directory, 'read'), 'isDirectory')
    assertFails(() => disk.open(directory, 'append'), 'isDirectory')
    assertFails(() => disk.writeSmallFile(directory, Buffer.from('x')), 'isDirectory')
  })

  diskTest('directories are made with those above them, listed and removed whole', async ({ disk, directory }) => {
    disk.makeDirectory(`${directory}/a/b/c`)
    disk.makeDirectory(`${directory}/a/b/c`)
    disk.writeSmallFile(`${directory}/a/file`, Buffer.from('x'))
    disk.writeSmallFile(`${directory}/a/b/file`, Buffer.from('x'))
    assert.deepEqual(names(disk, `${directory}/a`), ['b/', 'file'])
    assert.deepEqual(names(disk, `${directory}/a/b`), ['c/', 'file'])
    await disk.remove(`${directory}/a`)
    await disk.remove(`${directory}/a`)
    assert.equal(disk.status(`${directory}/a`), undefined)
    assert.deepEqual(names(disk, directory), [])
    assertFails(() => disk.list(`${directory}/a`), 'notFound')
  })

  diskTest('status tells size, kind and time', async ({ disk, directory }) => {
    disk.writeSmallFile(`${directory}/file`, Buffer.from('12345'))
    const status = disk.status(`${directory}/file`)
    assert.equal(status?.sizeBytes, 5)
    assert.equal(status?.isDirectory, false)
    assert.ok((status?.modifiedWallMs ?? 0) > 1_600_000_000_000)
    assert.equal(disk.status(directory)?.isDirectory, true)
    assert.equal(disk.status(`${directory}/none`), undefined)
    assert.equal(disk.status(`${directory}/file/below`), undefined)
  })

  diskTest('what is said of the time of a change holds until the next one', async ({ disk, directory }) => {
    disk.writeSmallFile(`${directory}/file`, Buffer.from('12345'))
    disk.setModified(`${directory}/file`, 1_600_000_000_123)
    disk.rename(`${directory}/file`, `${directory}/moved`)
    assert.equal(disk.status(`${directory}/moved`)?.modifiedWallMs, 1_600_000_000_123)
    disk.writeSmallFile(`${directory}/moved`, Buffer.from('1'))
    assert.ok((disk.status(`${directory}/moved`)?.modifiedWallMs ?? 0) > 1_600_000_000_123)
    assertFails(() => disk.setModified(`${directory}/none`, 1_600_000_000_123), 'notFound')
  })

  diskTest('rename replaces a file, moves a directory, and spares a full one', async ({ disk, directory }) => {
    disk.writeSmallFile(`${directory}/old`, Buffer.from('old'))
    disk.writeSmallFile(`${directory}/new`, Buffer.from('new'))
    disk.rename(`${directory}/new`, `${directory}/old`)
    assert.equal(String(disk.readSmallFile(`${directory}/old`, 100)), 'new')
    assert.deepEqual(names(disk, directory), ['old'])
    disk.makeDirectory(`${directory}/from`)
    disk.writeSmallFile(`${directory}/from/file`, Buffer.from('x'))
    disk.rename(`${directory}/from`, `${directory}/to`)
    assert.deepEqual(names(disk, `${directory}/to`), ['file'])
    disk.makeDirectory(`${directory}/other`)
    assertFails(() => disk.rename(`${directory}/other`, `${directory}/to`), 'notEmpty')
    assertFails(() => disk.rename(`${directory}/none`, `${directory}/x`), 'notFound')
  })

  diskTest('files are written off the loop as they are on it', async ({ disk, directory }) => {
    await disk.writeFile(`${directory}/file`, Buffer.from('first, longer'))
    await Promise.all([
      disk.writeFile(`${directory}/file`, Buffer.from('second')),
      disk.writeFile(`${directory}/empty`, Buffer.alloc(0)),
    ])
    assert.equal(String(disk.readSmallFile(`${directory}/file`, 6)), 'second')
    assert.equal(disk.readSmallFile(`${directory}/empty`, 6)?.length, 0)
    assert.deepEqual(names(disk, directory), ['empty', 'file'])
    await assertRejects(disk.writeFile(`${directory}/none/file`, Buffer.from('x')), 'notFound')
  })

  diskTest('an open file keeps working after its directory was renamed', async ({ disk, directory }) => {
    disk.makeDirectory(`${directory}/topic-0`)
    const file = disk.open(`${directory}/topic-0/log`, 'append')
    await append(file, 'one')
    disk.rename(`${directory}/topic-0`, `${directory}/topic-0-delete`)
    await append(file, 'two')
    await file.sync()
    assert.equal(String(disk.readSmallFile(`${directory}/topic-0-delete/log`, 100)), 'onetwo')
    file.release()
  })

  diskTest('small files are read whole, refused when large, undefined when absent', async ({ disk, directory }) => {
    disk.writeSmallFile(`${directory}/file`, Buffer.from('first, longer'))
    disk.writeSmallFile(`${directory}/file`, Buffer.from('second'))
    await disk.syncFile(`${directory}/file`)
    assert.equal(String(disk.readSmallFile(`${directory}/file`, 6)), 'second')
    assertFails(() => disk.readSmallFile(`${directory}/file`, 5), 'io')
    assertFails(() => disk.readSmallFile(directory, 100), 'isDirectory')
    assert.equal(disk.readSmallFile(`${directory}/none`, 5), undefined)
    await assertRejects(disk.syncFile(`${directory}/none`), 'notFound')
  })

  diskTest('replaceFile leaves the new content and nothing else', async ({ disk, directory }) => {
    await replaceFile(disk, `${directory}/checkpoint`, Buffer.from('0\n1\n'))
    await replaceFile(disk, `${directory}/checkpoint`, Buffer.from('0\n2\n'))
    assert.equal(String(disk.readSmallFile(`${directory}/checkpoint`, 100)), '0\n2\n')
    assert.deepEqual(names(disk, directory), ['checkpoint'])
  })

  diskTest('a lock excludes a second holder until it is released', async ({ disk, directory }) => {
    const held = disk.lock(`${directory}/.lock`)
    assert.ok(held !== undefined)
    assert.equal(disk.lock(`${directory}/.lock`), undefined)
    const other = disk.lock(`${directory}/.other`)
    assert.ok(other !== undefined)
    held.release()
    const again = disk.lock(`${directory}/.lock`)
    assert.ok(again !== undefined)
    again.release()
    other.release()
  })

  diskTest('there is a figure for what is free', async ({ disk, directory }) => {
    assert.ok((await disk.freeBytes(directory)) > 0)
    assert.ok(disk.freeBytesNow(directory) > 0)
  })
}

function append(file: DiskFile, ...parts: (string | Buffer)[]): Promise<void> {
  return appendOutcome(file, ...parts).then(error => {
    if (error !== undefined) throw error
  })
}

function appendOutcome(file: DiskFile, ...parts: (string | Buffer)[]): Promise<DiskError | undefined> {
  const buffers = parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part))
  return new Promise(resolve => file.append(buffers, resolve))
}

/** What is in a directory, in order; directories end in a slash. */
function names(disk: Disk, directory: string): string[] {
  return disk
    .list(directory)
    .map(entry => entry.name + (entry.isDirectory ? '/' : ''))
    .sort()
}

function assertFails(act: () => unknown, code: DiskErrorCode): void {
  assert.throws(act, error => error instanceof DiskError && error.code === code)
}

async function assertRejects(promise: Promise<unknown>, code: DiskErrorCode): Promise<void> {
  await assert.rejects(promise, error => error instanceof DiskError && error.code === code)
}
