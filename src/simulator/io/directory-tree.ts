import { assert } from '../../base/assert.ts'
import { FileContent } from './file-content.ts'
import type { SeededRandom } from './seeded-random.ts'

/** A file of the tree, whatever names it has. */
export class FileNode {
  readonly content: FileContent
  modifiedUs: number
  /** What somebody has said instead; forgotten when the content changes. */
  saidModifiedWallMs: number | undefined = undefined
  /** Changes of the content that belong to completed calls: what a sync promises to cover. */
  #completedChanges = 0

  constructor(modifiedUs: number, content = new FileContent()) {
    this.modifiedUs = modifiedUs
    this.content = content
  }

  get completedChanges(): number {
    return this.#completedChanges
  }

  noteCompletedChanges(): void {
    this.#completedChanges = this.content.changes
  }
}

export class DirectoryNode {
  readonly cached = new Map<string, TreeNode>()
  readonly durable = new Map<string, TreeNode>()
  readonly pending: NameChange[] = []
}

export type TreeNode = FileNode | DirectoryNode

interface Entry {
  readonly directory: DirectoryNode
  readonly name: string
  /** undefined: the name is removed. */
  readonly node: TreeNode | undefined
}

/** One change of names, made whole or not at all: a rename has two entries, possibly of two directories. */
export interface NameChange {
  readonly atUs: number
  readonly entries: readonly Entry[]
}

/**
 * The names of a disk, in the page cache and on the platter. Changes of names become durable in the order in which they
 * were made in their directory, by a sync of that directory or at the kernel's leisure; syncing a file does not help.
 */
export class DirectoryTree {
  readonly root = new DirectoryNode()
  readonly #dirty = new Set<DirectoryNode>()

  /** undefined when nothing has that name. */
  find(path: string): TreeNode | undefined {
    let node: TreeNode | undefined = this.root
    for (const name of namesOf(path)) {
      if (!(node instanceof DirectoryNode)) return undefined
      node = node.cached.get(name)
    }
    return node
  }

  /** The directory in which the last name of a path is, and that name; undefined when there is no such directory. */
  parentOf(path: string): { directory: DirectoryNode; name: string } | undefined {
    const names = namesOf(path)
    const name = names.pop()
    assert(name !== undefined, 'the root of a disk has no parent')
    const directory = this.find(names.join('/'))
    return directory instanceof DirectoryNode ? { directory, name } : undefined
  }

  change(atUs: number, entries: readonly Entry[]): void {
    const change = { atUs, entries }
    for (const { directory, name, node } of entries) {
      if (node === undefined) directory.cached.delete(name)
      else directory.cached.set(name, node)
      if (directory.pending.at(-1) !== change) directory.pending.push(change)
      this.#dirty.add(directory)
    }
  }

  /** Makes the directory's changes durable, up to this one. */
  syncThrough(directory: DirectoryNode, change: NameChange): void {
    while (directory.pending.includes(change)) this.#commitFirst(directory)
  }

  writeBackOlderThan(timeUs: number): void {
    for (const directory of this.#dirty)
      while ((directory.pending[0]?.atUs ?? Infinity) < timeUs) this.#commitFirst(directory)
    this.#forgetClean()
  }

  /** Keeps some of the changes that were not synced: of each directory those up to a drawn one. */
  powerCut(random: SeededRandom): void {
    for (const directory of this.#dirty) {
      const draw = random.below(4)
      const kept = draw === 0 ? directory.pending.length : draw === 1 ? 0 : random.between(0, directory.pending.length)
      for (let i = 0; i < kept; i++) this.#commitFirst(directory)
    }
    for (const directory of this.#dirty) {
      directory.pending.length = 0
      directory.cached.clear()
      for (const [name, node] of directory.durable) directory.cached.set(name, node)
    }
    this.#dirty.clear()
  }

  /** All files that have a name, in the order of their names' creation. */
  *files(directory = this.root, path = ''): Generator<{ path: string; file: FileNode }> {
    for (const [name, node] of directory.cached) {
      const inner = path === '' ? name : `${path}/${name}`
      if (node instanceof DirectoryNode) yield* this.files(node, inner)
      else yield { path: inner, file: node }
    }
  }

  /** All of it as the page cache has it, on another platter and synced there. */
  copy(): DirectoryTree {
    const copy = new DirectoryTree()
    copyInto(copy.root, this.root)
    return copy
  }

  #commitFirst(directory: DirectoryNode): void {
    const change = directory.pending[0]
    if (change === undefined) return
    // A rename between two directories takes along what came before it in either, or it would be made by halves.
    for (const entry of change.entries)
      while (entry.directory.pending[0] !== change && entry.directory.pending.includes(change))
        this.#commitFirst(entry.directory)
    if (directory.pending[0] !== change) return
    for (const entry of change.entries) {
      if (entry.node === undefined) entry.directory.durable.delete(entry.name)
      else entry.directory.durable.set(entry.name, entry.node)
      if (entry.directory.pending[0] === change) entry.directory.pending.shift()
    }
  }

  #forgetClean(): void {
    for (const directory of this.#dirty) if (directory.pending.length === 0) this.#dirty.delete(directory)
  }
}

function copyInto(target: DirectoryNode, source: DirectoryNode): void {
  for (const [name, node] of source.cached) {
    const copied = node instanceof FileNode ? new FileNode(node.modifiedUs, node.content.copy()) : new DirectoryNode()
    if (node instanceof FileNode && copied instanceof FileNode) copied.saidModifiedWallMs = node.saidModifiedWallMs
    if (node instanceof DirectoryNode && copied instanceof DirectoryNode) copyInto(copied, node)
    target.cached.set(name, copied)
    target.durable.set(name, copied)
  }
}

/** The names in a path. Absolute and relative paths are the same: both start at the root of the disk. */
export function namesOf(path: string): string[] {
  const names = path.split('/').filter(name => name !== '' && name !== '.')
  assert(!names.includes('..'), 'paths on a simulated disk do not climb')
  return names
}
