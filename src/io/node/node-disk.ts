import fs from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DirectoryEntry, Disk, DiskFile, DiskLock, FileStatus } from '../disk.ts'
import { DiskError } from '../disk.ts'
import { orDiskError, promised } from './disk-errors.ts'
import { lockThroughFcntl, lockWithoutFcntl } from './file-locks.ts'
import type { NativeCalls } from './native-calls.ts'
import { type DiskShared, NodeFile } from './node-file.ts'

const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL } = fs.constants

const openFlags = { read: O_RDONLY, append: O_RDWR | O_CREAT, create: O_RDWR | O_CREAT | O_EXCL }

/** The file system of this machine. Paths are absolute or relative to the working directory. */
export class NodeDisk implements Disk {
  readonly #shared: DiskShared
  readonly #native: NativeCalls | undefined

  constructor(shared: DiskShared, native: NativeCalls | undefined) {
    this.#shared = shared
    this.#native = native
  }

  open(path: string, how: 'read' | 'append' | 'create'): DiskFile {
    return orDiskError('open', path, () => {
      const descriptor = fs.openSync(path, openFlags[how], 0o644)
      const status = fs.fstatSync(descriptor)
      if (status.isFile()) return new NodeFile(this.#shared, path, { descriptor, sizeBytes: status.size })
      fs.closeSync(descriptor)
      if (status.isDirectory()) throw new DiskError('isDirectory', 'open', path)
      throw new DiskError('io', 'open', path, new Error('it is not a file'))
    })
  }

  list(directory: string): DirectoryEntry[] {
    const entries = orDiskError('list', directory, () => fs.readdirSync(directory, { withFileTypes: true }))
    return entries.map(entry => ({ name: entry.name, isDirectory: isDirectory(directory, entry) }))
  }

  status(path: string): FileStatus | undefined {
    try {
      const status = fs.statSync(path)
      const isDirectory = status.isDirectory()
      return { isDirectory, sizeBytes: isDirectory ? 0 : status.size, modifiedWallMs: Math.floor(status.mtimeMs) }
    } catch (error) {
      if (isAbsence(error)) return undefined
      return orDiskError('status', path, () => {
        throw error
      })
    }
  }

  makeDirectory(path: string): void {
    orDiskError('makeDirectory', path, () => {
      try {
        fs.mkdirSync(path, { recursive: true })
      } catch (error) {
        // Node says ENOENT here also of a file system that is read-only. Making one directory alone says why it cannot be.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        let missing = resolve(path)
        while (!fs.existsSync(dirname(missing))) missing = dirname(missing)
        fs.mkdirSync(missing)
        throw error
      }
    })
  }

  rename(from: string, to: string): void {
    orDiskError('rename', from, () => fs.renameSync(from, to))
  }

  readSmallFile(path: string, maxBytes: number): Buffer | undefined {
    return orDiskError('read', path, () => {
      let descriptor: number
      try {
        descriptor = fs.openSync(path, O_RDONLY)
      } catch (error) {
        if (isAbsence(error)) return undefined
        throw error
      }
      try {
        const status = fs.fstatSync(descriptor)
        const { size } = status
        if (status.isDirectory()) throw new DiskError('isDirectory', 'read', path)
        if (size > maxBytes) throw new DiskError('io', 'read', path, new Error(`it has ${size} bytes, expected fewer`))
        return fs.readFileSync(descriptor)
      } finally {
        fs.closeSync(descriptor)
      }
    })
  }

  writeSmallFile(path: string, bytes: Buffer): void {
    orDiskError('write', path, () => fs.writeFileSync(path, bytes))
  }

  writeFile(path: string, bytes: Buffer): Promise<void> {
    return promised<void>('write', path, callback => fs.writeFile(path, bytes, callback))
  }

  setModified(path: string, modifiedWallMs: number): void {
    const seconds = modifiedWallMs / 1000
    orDiskError('write', path, () => fs.utimesSync(path, seconds, seconds))
  }

  syncFile(path: string): Promise<void> {
    return this.#sync(path)
  }

  async remove(path: string): Promise<void> {
    for (;;) {
      try {
        return await promised<void>('remove', path, callback => fs.rm(path, { recursive: true, force: true }, callback))
      } catch (error) {
        // Node takes a file that it may not remove for a directory, and says that it is none. Removing it alone says why.
        const file = takenForDirectory(error)
        if (file === undefined) throw error
        await promised<void>('remove', file, callback => fs.unlink(file, callback))
      }
    }
  }

  syncDirectory(path: string): Promise<void> {
    return this.#sync(path)
  }

  lock(path: string): DiskLock | undefined {
    return this.#native === undefined ? lockWithoutFcntl(path) : lockThroughFcntl(this.#native, path)
  }

  async freeBytes(path: string): Promise<number> {
    const status = await promised<fs.StatsFs>('status', path, callback => fs.statfs(path, callback))
    return status.bavail * status.bsize
  }

  freeBytesNow(path: string): number {
    return orDiskError('status', path, () => {
      const { bavail, bsize } = fs.statfsSync(path)
      return bavail * bsize
    })
  }

  async #sync(path: string): Promise<void> {
    // Opening takes microseconds; in the pool it took longer to get there and back. Too many open files is no failed sync:
    // nothing that was written is in doubt.
    const descriptor = orDiskError('open', path, () => fs.openSync(path, O_RDONLY))
    try {
      await promised<void>('sync', path, callback =>
        this.#shared.syncs.run(end =>
          fs.fsync(descriptor, error => {
            end()
            callback(error)
          }),
        ),
      )
    } finally {
      orDiskError('sync', path, () => fs.closeSync(descriptor))
    }
  }
}

function takenForDirectory(error: unknown): string | undefined {
  const { code, path } = (error as DiskError).cause as NodeJS.ErrnoException
  return code === 'ENOTDIR' ? path : undefined
}

function isAbsence(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** A link counts as what it points to. */
function isDirectory(directory: string, entry: fs.Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory()
  return fs.statSync(`${directory}/${entry.name}`, { throwIfNoEntry: false })?.isDirectory() === true
}
