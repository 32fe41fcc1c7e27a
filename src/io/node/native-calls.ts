import type ffi from 'node:ffi'
import { createRequire } from 'node:module'

/** The few calls of the C library that Node does not offer. Linux only. */
export interface NativeCalls {
  /** Through what they are made, for the start-up log. */
  readonly through: 'node:ffi' | 'koffi'
  /** Bytes of a file to a socket without a copy; how many the socket took, or -1 for any error ("would block" is one). */
  sendfile(socket: number, file: number, position: number, length: number): number
  /** Locks a whole file for this descriptor alone; false when somebody holds it. */
  lockExclusively(file: number): boolean
  /** Whether the byte at `position` can be read without waiting for a disk. */
  isInMemory(file: number, position: number): boolean
}

/** fcntl: lock for the open file, not for the process, so that it holds between two brokers of one process as well. */
const F_OFD_SETLK = 37
const F_WRLCK = 1
const RWF_NOWAIT = 8

/** `undefined` where there is neither `node:ffi` (Node 26 has it) nor an installed koffi, or the system is not Linux. */
export function loadNativeCalls(): NativeCalls | undefined {
  if (process.platform !== 'linux') return undefined
  return loadThroughNode() ?? loadThroughKoffi(createRequire(import.meta.url))
}

export function loadThroughNode(): NativeCalls | undefined {
  const module = withoutFfiWarning(() => process.getBuiltinModule('node:ffi') as typeof ffi | undefined)
  if (module === undefined) return undefined
  try {
    return callsThroughNode(module)
  } catch {
    // No permission (--permission without --allow-ffi), or a C library that lacks one of the calls.
    return undefined
  }
}

function callsThroughNode(module: typeof ffi): NativeCalls {
  const { functions: libc } = module.dlopen(null, {
    sendfile: { arguments: ['i32', 'i32', 'buffer', 'u64'], return: 'i64' },
    fcntl: { arguments: ['i32', 'i32', 'buffer'], return: 'i32' },
    preadv2: { arguments: ['i32', 'buffer', 'i32', 'i64', 'i32'], return: 'i64' },
  })
  const offset = Buffer.alloc(8)
  const byte = Buffer.alloc(8)
  const vector = Buffer.alloc(16)
  vector.writeBigUInt64LE(module.getRawPointer(byte), 0)
  vector.writeBigUInt64LE(1n, 8)
  return {
    through: 'node:ffi',
    sendfile(socket, file, position, length) {
      writeOffset(offset, position)
      return Number(libc.sendfile(socket, file, offset, BigInt(length)))
    },
    lockExclusively: file => libc.fcntl(file, F_OFD_SETLK, wholeFileLock()) === 0,
    isInMemory(file, position) {
      // `byte` is named so that it outlives the pointer to it.
      return byte.length > 0 && libc.preadv2(file, vector, 1, BigInt(position), RWF_NOWAIT) === 1n
    },
  }
}

/** The part of koffi that is used. It is not a dependency: whoever wants it installs it beside us. */
interface Koffi {
  load(path: string | null): { func(name: string, result: string, parameters: readonly unknown[]): NativeFunction }
  struct(fields: Record<string, string>): unknown
  pointer(type: unknown): unknown
}
type NativeFunction = (...parameters: unknown[]) => number

export function loadThroughKoffi(require: (name: string) => unknown): NativeCalls | undefined {
  try {
    const koffi = require('koffi') as Koffi
    const libc = koffi.load(null)
    const sendfile = libc.func('sendfile', 'int64', ['int', 'int', 'void *', 'size_t'])
    const fcntl = libc.func('fcntl', 'int', ['int', 'int', 'void *'])
    const vector = koffi.pointer(koffi.struct({ base: 'void *', length: 'size_t' }))
    const preadv2 = libc.func('preadv2', 'int64', ['int', vector, 'int', 'int64', 'int'])
    const offset = Buffer.alloc(8)
    const byte = { base: Buffer.alloc(8), length: 1 }
    return {
      through: 'koffi',
      sendfile(socket, file, position, length) {
        writeOffset(offset, position)
        return sendfile(socket, file, offset, length)
      },
      lockExclusively: file => fcntl(file, F_OFD_SETLK, wholeFileLock()) === 0,
      isInMemory: (file, position) => preadv2(file, byte, 1, position, RWF_NOWAIT) === 1,
    }
  } catch {
    return undefined
  }
}

function writeOffset(target: Buffer, position: number): void {
  target.writeUInt32LE(position % 2 ** 32, 0)
  target.writeUInt32LE(Math.floor(position / 2 ** 32), 4)
}

/** `struct flock`: type, whence, start, length (0: to the end, wherever it is), pid (0, as the kernel asks). */
function wholeFileLock(): Buffer {
  const lock = Buffer.alloc(32)
  lock.writeInt16LE(F_WRLCK, 0)
  return lock
}

/**
 * Loading `node:ffi` prints that it is experimental. A program that embeds a broker did not choose it and cannot act on
 * it, so this one warning is left out; all others pass.
 */
function withoutFfiWarning<T>(load: () => T): T {
  const emitWarning = process.emitWarning
  process.emitWarning = ((...warning: [string, string]) => {
    if (warning[1] !== 'ExperimentalWarning' || !String(warning[0]).startsWith('FFI ')) emitWarning(...warning)
  }) as typeof emitWarning
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}
