import { DirectoryTree, FileNode } from './directory-tree.ts'
import { DiskFaults } from './disk-faults.ts'
import type { PowerCutOutcome } from './file-content.ts'
import type { Scheduler } from './scheduler.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { HostClock } from './simulated-clock.ts'

/** Bytes that a file has been given but that are not even in the page cache: a process crash takes any part of them. */
export interface UnwrittenBytes {
  /** Writes the first of them, or all. */
  writeSome(random: SeededRandom): void
}

export type CrashKind = 'kill' | 'power'

/** After how long the kernel has written dirty bytes, and changed names, to the platter on its own. */
const WRITE_BACK_US = 30_000_000
const JOURNAL_US = 5_000_000

const outcomes: readonly PowerCutOutcome[] = ['keep', 'drop', 'mixed', 'mixed', 'torn', 'torn', 'torn']

/**
 * One disk of a simulated host: it belongs to the world and outlives the processes that use it. What they see is the page
 * cache; `crash` decides what of it is still there afterwards.
 */
export class SimulatedDisk {
  readonly name: string
  readonly scheduler: Scheduler
  readonly clock: HostClock
  readonly faults = new DiskFaults()
  /** Draws of the disk itself: latencies, errors, what a crash takes. */
  readonly random: SeededRandom
  readonly locks = new Set<string>()
  /** Of open files: bytes that a crash may catch half written. */
  readonly unwritten = new Set<UnwrittenBytes>()
  openFiles = 0
  #tree = new DirectoryTree()
  readonly #dirtyFiles = new Set<FileNode>()

  constructor(scheduler: Scheduler, clock: HostClock, name: string) {
    this.scheduler = scheduler
    this.clock = clock
    this.name = name
    this.random = scheduler.random(`disk of ${name}`)
  }

  get tree(): DirectoryTree {
    return this.#tree
  }

  /** `kill`: the process is gone, the page cache stays. `power`: of what was not synced, anything may be gone or torn. */
  crash(kind: CrashKind): void {
    for (const bytes of this.unwritten) bytes.writeSome(this.random)
    this.unwritten.clear()
    this.locks.clear()
    this.openFiles = 0
    if (kind === 'kill') {
      // No call is under way any more, so what the cache has is covered by whoever syncs next.
      for (const file of this.#dirtyFiles) file.noteCompletedChanges()
      return
    }
    const usedBefore = this.#usedBytes()
    this.writeBack()
    this.#tree.powerCut(this.random)
    for (const file of this.#dirtyFiles) file.content.powerCut(this.random.pick(outcomes), this.random)
    this.#dirtyFiles.clear()
    this.faults.freeBytes += usedBefore - this.#usedBytes()
  }

  changed(file: FileNode): void {
    file.modifiedUs = this.scheduler.timeUs
    file.saidModifiedWallMs = undefined
    this.#dirtyFiles.add(file)
    if (this.random.chance(1 / 64)) this.writeBack()
  }

  /** What the kernel has done meanwhile. */
  writeBack(): void {
    this.#tree.writeBackOlderThan(this.scheduler.timeUs - JOURNAL_US)
    for (const file of this.#dirtyFiles) {
      file.content.writeBackOlderThan(this.scheduler.timeUs - WRITE_BACK_US)
      if (file.content.isDurable) this.#dirtyFiles.delete(file)
    }
  }

  /** When something that is asked for now completes. */
  completionUs(typicalUs: number): number {
    const stall = Math.max(0, this.faults.stalledUntilUs - this.scheduler.timeUs)
    return stall + this.random.delayUs(typicalUs)
  }

  /** Nothing completes for this long from now. */
  stall(ms: number): void {
    this.faults.stalledUntilUs = this.scheduler.timeUs + ms * 1000
  }

  /** All files by path, as the page cache has them: for audits and for planting damage. */
  files(): { path: string; bytes: Buffer }[] {
    return [...this.#tree.files()].map(({ path, file }) => {
      return { path, bytes: Buffer.from(file.content.cached.view(0, file.content.sizeBytes)) }
    })
  }

  /**
   * Puts these bytes where they do not belong, on the platter and in the cache: what has rotted there, or a write that was
   * meant for another place. False when the file does not reach that far.
   */
  damage(path: string, position: number, bytes: Buffer): boolean {
    const node = this.#tree.find(path)
    if (!(node instanceof FileNode) || position + bytes.length > node.content.sizeBytes) return false
    node.content.damage(position, bytes)
    return true
  }

  /** Flips bits of one byte, on the platter and in the cache. False when the file does not reach that far. */
  flip(path: string, position: number, mask: number): boolean {
    const node = this.#tree.find(path)
    if (!(node instanceof FileNode) || position >= node.content.sizeBytes) return false
    node.content.flip(position, mask)
    return true
  }

  #usedBytes(): number {
    let sum = 0
    for (const { file } of this.#tree.files()) sum += file.content.sizeBytes
    return sum
  }

  /** A copy to go back to: the fault "the disk was replaced by an older copy of itself". No process may be using it. */
  snapshot(): DiskSnapshot {
    return new DiskSnapshot(this.#tree)
  }

  restore(snapshot: DiskSnapshot): void {
    this.#tree = snapshot.copyTree()
    this.#dirtyFiles.clear()
  }

  /** Takes everything off the disk. No process may be using it. */
  wipe(): void {
    this.#tree = new DirectoryTree()
    this.#dirtyFiles.clear()
  }
}

export class DiskSnapshot {
  readonly #tree: DirectoryTree

  constructor(tree: DirectoryTree) {
    this.#tree = tree.copy()
  }

  copyTree(): DirectoryTree {
    return this.#tree.copy()
  }
}
