/** What went wrong, as far as anyone can act on it. `io` covers EIO and all that has no better name. */
export type DiskErrorCode =
  | 'noSpace'
  | 'readOnly'
  | 'notFound'
  | 'exists'
  | 'notEmpty'
  | 'tooManyOpenFiles'
  | 'notPermitted'
  | 'isDirectory'
  | 'io'

/** A failed operation of a disk. The only error a `Disk` throws, rejects with or passes to a completion. */
export class DiskError extends Error {
  override readonly name = 'DiskError'
  readonly code: DiskErrorCode
  readonly operation: string
  readonly path: string

  constructor(code: DiskErrorCode, operation: string, path: string, cause?: unknown) {
    super(`${operation} ${path}: ${code}${cause instanceof Error ? ` (${cause.message})` : ''}`, { cause })
    this.code = code
    this.operation = operation
    this.path = path
  }
}

/** A disk fails with disk errors only. Anything else is a fault of ours, and goes on as it is. */
export function expectDiskError(error: unknown): asserts error is DiskError {
  if (!(error instanceof DiskError)) throw error
}

export interface DirectoryEntry {
  readonly name: string
  readonly isDirectory: boolean
}

export interface FileStatus {
  readonly isDirectory: boolean
  readonly sizeBytes: number
  readonly modifiedWallMs: number
}

/** An exclusive claim on a file, held against other holders in this process and in others. */
export interface DiskLock {
  release(): void
}

/**
 * A file that is open for reading, or for reading and appending. It is reference counted: opening gives one reference,
 * every `FileRange` that is being sent holds another, and the descriptor closes when the last is released.
 */
export interface DiskFile {
  readonly path: string
  /**
   * Bytes in the file: those it had when it was opened, and what was done through this object since, appends that are
   * queued but not completed included. What another open file of the same path does is not seen.
   */
  readonly sizeBytes: number
  /**
   * Appends `parts` at the end. The bytes are the caller's again when the call returns (what cannot be written at once
   * is copied). `done` runs exactly once, in a later turn, in the order of the calls; with an error nothing of this
   * append may be counted on, later ones in flight fail too, and the caller truncates before it appends again.
   * Short writes are continued inside. Durability needs `sync`.
   */
  append(parts: readonly Buffer[], done: (error: DiskError | undefined) => void): void
  /** Reads `length` bytes at `position`, off the loop; shorter only where the file ends. Buffer is the caller's. */
  read(position: number, length: number): Promise<Buffer>
  /** As `read`, into memory of the caller's that stays valid until the answer: how many bytes were read. */
  readInto(position: number, target: Buffer): Promise<number>
  /**
   * Reads into `target` at once, for bytes that are known to be in memory (just written, or small files at start-up).
   * Returns how many bytes were read: fewer than `target.length` only where the file ends. Throws `DiskError`.
   */
  readNow(position: number, target: Buffer): number
  /** Overwrites bytes inside the file (index repair, snapshots); the same rules as `append`. Rare. */
  write(position: number, bytes: Buffer): Promise<void>
  /** All that was appended and completed before the call is durable when this resolves. */
  sync(): Promise<void>
  /**
   * Cuts (or extends with zeros) to `sizeBytes`. No append may be in flight. Ranges of this object that are being sent and
   * reach beyond it fail.
   */
  truncate(sizeBytes: number): void
  retain(): void
  release(): void
}

/**
 * Files and directories. Paths are absolute, or relative to the disk's root in the simulator, joined by '/'.
 *
 * The synchronous calls are for what takes microseconds: names, sizes, opening, small files at start-up. Everything
 * that can wait on a platter (reading cold data, syncing, unlinking large files) is a promise. All throw or reject with
 * `DiskError` only.
 *
 * Durability is Linux's: bytes need `DiskFile.sync`; a name that was created, renamed or removed needs `syncDirectory`
 * of the directory it is in. A failed sync is final: what it covered is to be thought lost, and is not tried again.
 */
export interface Disk {
  /** `read`: must exist. `append`: opened for reading and writing, created when absent. `create`: as append, but must be absent. */
  open(path: string, how: 'read' | 'append' | 'create'): DiskFile
  /** Entries in no particular order, '.' and '..' left out. */
  list(directory: string): DirectoryEntry[]
  /** undefined when nothing has that name. */
  status(path: string): FileStatus | undefined
  /** Creates the directory and those above it; harmless when it is there. */
  makeDirectory(path: string): void
  /** Replaces what has the new name, atomically. */
  rename(from: string, to: string): void
  /** Reads a whole small file; undefined when it is absent; an `io` error when it is larger than `maxBytes`. */
  readSmallFile(path: string, maxBytes: number): Buffer | undefined
  /** Writes a whole small file under its name, without atomicity or sync. Used for temporary files. */
  writeSmallFile(path: string, bytes: Buffer): void
  /** As `writeSmallFile`, off the loop: for many files at a time. The bytes must not change before it is done. */
  writeFile(path: string, bytes: Buffer): Promise<void>
  /** Says when the content of a file last changed; for files that take the place of older ones. */
  setModified(path: string, modifiedWallMs: number): void
  /** Syncs a file by name, for files written by `writeSmallFile`. */
  syncFile(path: string): Promise<void>
  /** Removes a file, or a directory with all that is in it; harmless when it is absent. */
  remove(path: string): Promise<void>
  syncDirectory(path: string): Promise<void>
  /** Claims the file (created when absent); undefined when somebody holds it. */
  lock(path: string): DiskLock | undefined
  freeBytes(path: string): Promise<number>
  /** The same at once. */
  freeBytesNow(path: string): number
}

/**
 * Bytes of a file, to be sent without passing through this process. Whoever makes one retains the file for it;
 * `Connection.send` releases it when the send has ended, whichever way.
 *
 * Only for bytes that are never cut off again (below the high watermark), or to a peer that checks what it gets: sendfile
 * gives the kernel references to the file's pages, so what is cut off and written anew after `sent` ran, but before the
 * peer has read, may arrive as its successor. Everything else is sent as a `Buffer`.
 */
export interface FileRange {
  readonly file: DiskFile
  readonly position: number
  readonly length: number
}

/**
 * Puts a small file in place so that after a power cut either the old or the new content is there: temporary file,
 * sync, rename, sync of the directory. `path` names the final file.
 */
export async function replaceFile(disk: Disk, path: string, bytes: Buffer): Promise<void> {
  const temporary = `${path}.tmp`
  disk.writeSmallFile(temporary, bytes)
  await disk.syncFile(temporary)
  disk.rename(temporary, path)
  await disk.syncDirectory(path.slice(0, path.lastIndexOf('/')))
}
