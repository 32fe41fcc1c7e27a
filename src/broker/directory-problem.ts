import type { DiskError } from '../io/disk.ts'
import { StartError } from './start-error.ts'

/** Why a log directory cannot be used: one line that names it and says what to do. */
export function directoryProblem(path: string, error: DiskError): string {
  const { cause } = error
  const reason = cause instanceof Error ? cause.message : error.message
  // What is read is there; whatever else is refused, a lock or a new file, is the directory's matter.
  const isFile = error.path !== path && (error.operation === 'read' || error.operation === 'open')
  switch (error.code) {
    case 'readOnly':
      return `${path} is on a file system that is mounted read-only: mount it for writing, or set another log.dirs`
    case 'notPermitted':
      if (isFixed(error)) return `${isFile ? error.path : path} or what is in it ${fixedText}, or set another log.dirs`
      if (isFile)
        return `${error.path} may not be used by this user: give the user the file (chown, chmod), or set another log.dirs`
      return `${path} cannot be written by this user: give the user the directory (chown), or set another log.dirs`
    case 'isDirectory':
      return `${error.path} is a directory, where a file should be: move it away, and restore the file from a copy`
    case 'noSpace':
      return `the disk of ${path} is full: make room there, or set another log.dirs`
    case 'notFound':
      return `${path} is no directory, and none can be made there: set another log.dirs`
    case 'tooManyOpenFiles':
      return `${path} cannot be used, since this process has too many open files: raise its limit (ulimit -n)`
    default:
      if (isFile)
        return `${error.path} cannot be used: ${reason}. Look at the disk (dmesg), restore the file from a copy, or set another log.dirs`
      return `${path} cannot be used: ${reason}. Look at the disk (dmesg), or set another log.dirs`
  }
}

/** What to do about a directory that has failed while the broker runs. */
export function remedyFor(error: DiskError): string {
  switch (error.code) {
    case 'notPermitted':
      if (isFixed(error)) return `It ${fixedText}`
      return 'Give the user of the broker what is named here (chown, chmod)'
    case 'readOnly':
      return 'Mount its file system for writing'
    case 'isDirectory':
      return 'Move the directory away that is in the place of this file, and restore the file from a copy'
    default:
      return 'Mend the disk, or restore the file from a copy'
  }
}

const fixedText =
  'may not be changed by anyone, as with the attributes immutable and append-only: look with lsattr, and take them away (chattr -i -a)'

/** Linux says EACCES of what others may do, and EPERM of what not even its owner may. */
function isFixed({ cause }: DiskError): boolean {
  return (cause as { readonly code?: unknown } | undefined)?.code === 'EPERM'
}

/** Why a broker with these directories does not start, when a disk has failed it. */
export function diskStartError(paths: readonly string[], error: DiskError): StartError {
  const path = paths.find(one => error.path === one || error.path.startsWith(`${one}/`)) ?? error.path
  return new StartError(directoryProblem(path, error), { cause: error })
}
