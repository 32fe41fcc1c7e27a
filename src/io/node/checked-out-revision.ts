import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * The commit that is checked out in this directory, as git's files say it: nothing is run for it. Undefined where there is no git,
 * or no commit yet. What was changed since does not show.
 */
export function checkedOutRevision(directory: string): string | undefined {
  const gitDirectory = gitDirectoryOf(directory)
  const head = read(join(gitDirectory, 'HEAD'))
  const reference = head && /^ref: (refs\/.+)$/.exec(head)?.[1]
  if (!reference) return commitIn(head)
  // A worktree has a HEAD of its own, and shares the branches.
  const shared = resolve(gitDirectory, read(join(gitDirectory, 'commondir')) ?? '.')
  return commitIn(read(join(shared, reference))) ?? packedIn(read(join(shared, 'packed-refs')), reference)
}

function gitDirectoryOf(directory: string): string {
  const path = join(directory, '.git')
  const pointer = read(path)?.match(/^gitdir: (.+)$/)?.[1]
  return pointer === undefined ? path : resolve(directory, pointer)
}

function commitIn(text: string | undefined): string | undefined {
  return text !== undefined && /^[0-9a-f]{40,64}$/.test(text) ? text : undefined
}

function packedIn(text: string | undefined, reference: string): string | undefined {
  const line = text?.split('\n').find(one => one.endsWith(` ${reference}`))
  return commitIn(line?.split(' ')[0])
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
