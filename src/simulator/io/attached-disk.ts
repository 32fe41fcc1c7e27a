import { assert } from '../../base/assert.ts'
import type { FileStatus } from '../../io/disk.ts'
import {
  type DirectoryEntry,
  type Disk,
  DiskError,
  type DiskErrorCode,
  type DiskFile,
  type DiskLock,
} from '../../io/disk.ts'
import { DirectoryNode, FileNode, namesOf, type TreeNode } from './directory-tree.ts'
import type { DiskOperation } from './disk-faults.ts'
import type { Life } from './life.ts'
import type { SimulatedDisk } from './simulated-disk.ts'
import { SimulatedFile } from './simulated-file.ts'

const SYNC_US = 3000
const REMOVE_US = 200
const WRITE_US = 100

/** A simulated disk as one life of a node sees it. */
export class AttachedDisk implements Disk {
  readonly #disk: SimulatedDisk
  readonly #life: Life

  constructor(disk: SimulatedDisk, life: Life) {
    this.#disk = disk
    this.#life = life
  }

  open(path: string, how: 'read' | 'append' | 'create'): DiskFile {
    this.#begin('open', path)
    const found = this.#disk.tree.find(path)
    if (found instanceof DirectoryNode) throw new DiskError('isDirectory', 'open', path)
    if (this.#disk.openFiles >= this.#disk.faults.maxOpenFiles) throw new DiskError('tooManyOpenFiles', 'open', path)
    if (found !== undefined && how === 'create') throw new DiskError('exists', 'open', path)
    if (found === undefined && how === 'read') throw new DiskError('notFound', 'open', path)
    const error = how === 'read' ? undefined : this.#disk.faults.decideOpenToWrite(path)
    if (error !== undefined) throw error
    return new SimulatedFile(this.#disk, this.#life, found ?? this.#createFile('open', path), path)
  }

  list(directory: string): DirectoryEntry[] {
    this.#begin('list', directory)
    const found = this.#directory('list', directory)
    const entries = [...found.cached].map(([name, node]) => ({ name, isDirectory: node instanceof DirectoryNode }))
    return this.#life.random.shuffled(entries)
  }

  status(path: string): FileStatus | undefined {
    this.#begin('status', path)
    const node = this.#disk.tree.find(path)
    if (node === undefined) return undefined
    const isDirectory = node instanceof DirectoryNode
    const modifiedUs = isDirectory ? 0 : node.modifiedUs
    const said = isDirectory ? undefined : node.saidModifiedWallMs
    return {
      isDirectory,
      sizeBytes: isDirectory ? 0 : node.content.sizeBytes,
      modifiedWallMs: said ?? this.#wallMs(modifiedUs),
    }
  }

  makeDirectory(path: string): void {
    this.#begin('makeDirectory', path)
    let directory = this.#disk.tree.root
    for (const name of namesOf(path)) {
      let inner = directory.cached.get(name)
      if (inner instanceof FileNode) throw new DiskError('exists', 'makeDirectory', path)
      if (inner === undefined) {
        inner = new DirectoryNode()
        this.#disk.tree.change(this.#timeUs, [{ directory, name, node: inner }])
      }
      directory = inner
    }
  }

  rename(from: string, to: string): void {
    this.#begin('rename', from)
    const node = this.#disk.tree.find(from)
    const source = this.#disk.tree.parentOf(from)
    const target = this.#disk.tree.parentOf(to)
    if (node === undefined || source === undefined || target === undefined)
      throw new DiskError('notFound', 'rename', from)
    const replaced = target.directory.cached.get(target.name)
    if (replaced === node) return
    const refusal = refuseReplacing(node, replaced)
    if (refusal !== undefined) throw new DiskError(refusal, 'rename', to)
    this.#free(replaced)
    this.#disk.tree.change(this.#timeUs, [
      { ...source, node: undefined },
      { ...target, node },
    ])
  }

  readSmallFile(path: string, maxBytes: number): Buffer | undefined {
    this.#begin('read', path)
    const node = this.#disk.tree.find(path)
    if (node === undefined) return undefined
    if (node instanceof DirectoryNode) throw new DiskError('isDirectory', 'read', path)
    if (node.content.sizeBytes > maxBytes) throw new DiskError('io', 'read', path, new Error('it is too large'))
    return Buffer.from(node.content.cached.view(0, node.content.sizeBytes))
  }

  writeSmallFile(path: string, bytes: Buffer): void {
    this.#begin('write', path)
    this.#write(path, bytes)
  }

  writeFile(path: string, bytes: Buffer): Promise<void> {
    return this.#later('write', path, WRITE_US, error => {
      if (error !== undefined) throw error
      this.#write(path, bytes)
    })
  }

  #write(path: string, bytes: Buffer): void {
    const found = this.#disk.tree.find(path)
    if (found instanceof DirectoryNode) throw new DiskError('isDirectory', 'write', path)
    const node = found ?? this.#createFile('write', path)
    const faults = this.#disk.faults
    faults.freeBytes += node.content.sizeBytes
    node.content.truncate(this.#timeUs, 0)
    const room = Math.max(0, Math.min(bytes.length, faults.freeBytes))
    node.content.write(this.#timeUs, 0, Buffer.from(bytes.subarray(0, room)))
    faults.freeBytes -= room
    node.noteCompletedChanges()
    this.#disk.changed(node)
    this.#life.scheduler.trace.recordBytes(bytes)
    if (room < bytes.length) throw new DiskError('noSpace', 'write', path)
  }

  setModified(path: string, modifiedWallMs: number): void {
    this.#begin('write', path)
    const node = this.#disk.tree.find(path)
    if (!(node instanceof FileNode)) throw new DiskError('notFound', 'write', path)
    node.saidModifiedWallMs = Math.floor(modifiedWallMs)
  }

  syncFile(path: string): Promise<void> {
    // It is opened by its name, and synced whatever name it has when that is done.
    const node = this.#disk.tree.find(path)
    return this.#later('sync', path, SYNC_US, error => {
      if (!(node instanceof FileNode)) throw new DiskError('notFound', 'sync', path)
      if (error === undefined) return node.content.syncThrough(node.content.changes)
      node.content.failSyncThrough(node.content.changes, this.#disk.random)
      throw error
    })
  }

  async remove(path: string): Promise<void> {
    await this.#later('remove', path, REMOVE_US, error => {
      if (error !== undefined) throw error
    })
    // One name after the other, as rm does it: a crash may come between any two.
    const node = this.#disk.tree.find(path)
    if (node instanceof DirectoryNode) for (const name of [...node.cached.keys()]) await this.remove(`${path}/${name}`)
    if (!this.#life.isAlive) return
    const place = this.#disk.tree.parentOf(path)
    const found = place?.directory.cached.get(place.name)
    if (place === undefined || found === undefined) return
    if (found instanceof DirectoryNode && found.cached.size > 0) throw new DiskError('notEmpty', 'remove', path)
    this.#free(found)
    this.#disk.tree.change(this.#timeUs, [{ ...place, node: undefined }])
  }

  syncDirectory(path: string): Promise<void> {
    const directory = this.#disk.tree.find(path)
    const covered = directory instanceof DirectoryNode ? directory.pending.at(-1) : undefined
    return this.#later('syncDirectory', path, SYNC_US, error => {
      if (error !== undefined) throw error
      if (!(directory instanceof DirectoryNode)) throw new DiskError('notFound', 'syncDirectory', path)
      if (covered !== undefined) this.#disk.tree.syncThrough(directory, covered)
    })
  }

  lock(path: string): DiskLock | undefined {
    this.#begin('lock', path)
    if (this.#disk.tree.find(path) === undefined) this.#createFile('lock', path)
    const key = namesOf(path).join('/')
    if (this.#disk.locks.has(key)) return undefined
    this.#disk.locks.add(key)
    let isHeld = true
    return {
      release: () => {
        assert(isHeld, 'a lock is released once')
        isHeld = false
        if (this.#life.isAlive) this.#disk.locks.delete(key)
      },
    }
  }

  freeBytes(path: string): Promise<number> {
    return this.#later('status', path, REMOVE_US, error => {
      if (error !== undefined) throw error
      return Math.max(0, this.#disk.faults.freeBytes)
    })
  }

  freeBytesNow(): number {
    this.#life.assertAlive()
    return Math.max(0, this.#disk.faults.freeBytes)
  }

  get #timeUs(): number {
    return this.#life.scheduler.timeUs
  }

  #wallMs(timeUs: number): number {
    return this.#disk.clock.read(timeUs).wallMs
  }

  #begin(operation: DiskOperation, path: string): void {
    this.#life.assertAlive()
    const error = this.#disk.faults.decide(operation, path, this.#disk.random)
    if (error !== undefined) throw error
  }

  #directory(operation: DiskOperation, path: string): DirectoryNode {
    const node = this.#disk.tree.find(path)
    if (node instanceof DirectoryNode) return node
    throw new DiskError(node === undefined ? 'notFound' : 'io', operation, path)
  }

  #createFile(operation: DiskOperation, path: string): FileNode {
    const place = this.#disk.tree.parentOf(path)
    if (place === undefined) throw new DiskError('notFound', operation, path)
    const node = new FileNode(this.#timeUs)
    this.#disk.tree.change(this.#timeUs, [{ ...place, node }])
    return node
  }

  #free(node: TreeNode | undefined): void {
    if (node instanceof FileNode) this.#disk.faults.freeBytes += node.content.sizeBytes
  }

  #later<T>(
    operation: DiskOperation,
    path: string,
    typicalUs: number,
    act: (error: DiskError | undefined) => T,
  ): Promise<T> {
    if (!this.#life.isAlive) return new Promise(() => undefined)
    return new Promise((resolve, reject) => {
      this.#life.schedule(`disk ${operation}`, this.#disk.completionUs(typicalUs), () => {
        try {
          resolve(act(this.#disk.faults.decide(operation, path, this.#disk.random)))
        } catch (error) {
          reject(error)
        }
      })
    })
  }
}

function refuseReplacing(node: TreeNode, replaced: TreeNode | undefined): DiskErrorCode | undefined {
  if (replaced === undefined) return undefined
  if (node instanceof DirectoryNode !== replaced instanceof DirectoryNode) return 'exists'
  return replaced instanceof DirectoryNode && replaced.cached.size > 0 ? 'notEmpty' : undefined
}
