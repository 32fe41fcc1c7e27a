import type { DiskError } from '../io/disk.ts'

/** Why a log directory cannot be used: one line that names it and says what to do. */
export function directoryProblem(path: string, error: DiskError): string {
  const { cause } = error
  switch (error.code) {
    case 'readOnly':
      return `${path} is on a file system that is mounted read-only: mount it for writing, or set another log.dirs`
    case 'notPermitted':
      return `${path} cannot be written by this user: give the user the directory (chown), or set another log.dirs`
    case 'noSpace':
      return `the disk of ${path} is full: make room there, or set another log.dirs`
    case 'notFound':
      return `${path} is no directory, and none can be made there: set another log.dirs`
    case 'tooManyOpenFiles':
      return `${path} cannot be used, since this process has too many open files: raise its limit (ulimit -n)`
    default:
      return `${path} cannot be used: ${cause instanceof Error ? cause.message : error.message}. Look at the disk (dmesg), or set another log.dirs`
  }
}
