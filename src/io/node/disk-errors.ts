import { DiskError, type DiskErrorCode } from '../disk.ts'

const codes: Readonly<Record<string, DiskErrorCode>> = {
  ENOSPC: 'noSpace',
  EDQUOT: 'noSpace',
  EROFS: 'readOnly',
  ENOENT: 'notFound',
  ENOTDIR: 'notFound',
  EEXIST: 'exists',
  ENOTEMPTY: 'notEmpty',
  EMFILE: 'tooManyOpenFiles',
  ENFILE: 'tooManyOpenFiles',
  EACCES: 'notPermitted',
  EPERM: 'notPermitted',
  EISDIR: 'isDirectory',
}

/** What Node's file system calls throw, as a `DiskError`. */
export function toDiskError(error: unknown, operation: string, path: string): DiskError {
  if (error instanceof DiskError) return error
  const errno = (error as NodeJS.ErrnoException | undefined)?.code ?? ''
  return new DiskError(codes[errno] ?? 'io', operation, path, error)
}

/** Calls `act`; what it throws leaves as a `DiskError`. */
export function orDiskError<T>(operation: string, path: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw toDiskError(error, operation, path)
  }
}

/** Carries out a call of Node's with a callback, as a promise that rejects with a `DiskError`. */
export function promised<T>(
  operation: string,
  path: string,
  start: (callback: (error: NodeJS.ErrnoException | null, value?: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => {
      if (error) reject(toDiskError(error, operation, path))
      else resolve(value as T)
    })
  })
}
