import type { Uuid } from '../base/uuid.ts'
import { parsePartitionDirectoryName } from '../core/log/file-names.ts'
import { expectDiskError } from '../io/disk.ts'
import type { OpenOptions } from './log-directories.ts'
import { readTopicId } from './log-loader.ts'
import type { StorageContext } from './storage-context.ts'

/** Two directories of one partition: which of them is the log, nobody can say but who has put them there. */
export class DuplicateLogError extends Error {
  override readonly name = 'DuplicateLogError'

  constructor([first, second]: readonly [string, string]) {
    super(`${first} and ${second} are the same partition: move away the one that is not to be served`)
  }
}

/**
 * Throws `DuplicateLogError` when two log directories have a partition of the same topic id. What is on its way from one to the
 * other or out (`-future`, `-delete`, `-stray`) has another name, and what will be set aside is not asked. Only where a name
 * occurs twice is anything read.
 */
export function refuseDuplicates(context: StorageContext, { directories, isStray }: OpenOptions): void {
  const places = new Map<string, string[]>()
  for (const { directory } of directories) {
    for (const name of namesIn(context, directory.path)) {
      const paths = places.get(name)
      if (paths === undefined) places.set(name, [`${directory.path}/${name}`])
      else paths.push(`${directory.path}/${name}`)
    }
  }
  for (const [name, paths] of places) if (paths.length > 1) refuseSame(context, name, paths, isStray)
}

function refuseSame(
  context: StorageContext,
  name: string,
  paths: readonly string[],
  isStray: OpenOptions['isStray'],
): void {
  const { topic, partition } = parsePartitionDirectoryName(name)!
  const byId = new Map<Uuid, string>()
  for (const path of paths) {
    const topicId = quietly(() => readTopicId(context, path))
    if (topicId === undefined || isStray({ topic, topicId, partition })) continue
    const other = byId.get(topicId)
    if (other !== undefined) throw new DuplicateLogError([other, path])
    byId.set(topicId, path)
  }
}

function namesIn({ disk }: StorageContext, path: string): string[] {
  const entries = quietly(() => disk.list(path)) ?? []
  const isPartition = (name: string) => parsePartitionDirectoryName(name)?.kind === 'current'
  return entries.filter(({ name, isDirectory }) => isDirectory && isPartition(name)).map(({ name }) => name)
}

/** A directory that cannot be read is told of when it is opened. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    expectDiskError(error)
    return undefined
  }
}
