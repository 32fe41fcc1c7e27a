import { createHash } from 'node:crypto'
import fs from 'node:fs'
import net from 'node:net'
import type { DiskLock } from '../disk.ts'
import { orDiskError } from './disk-errors.ts'
import type { NativeCalls } from './native-calls.ts'

/** Holds against other brokers of this process, against other processes, and against Kafka, which uses fcntl too. */
export function lockThroughFcntl(native: NativeCalls, path: string): DiskLock | undefined {
  return orDiskError('lock', path, () => {
    const descriptor = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o644)
    if (native.lockExclusively(descriptor)) return { release: () => fs.closeSync(descriptor) }
    fs.closeSync(descriptor)
    return undefined
  })
}

/**
 * Without native calls, a local socket is bound whose name is made from the file's: the kernel lets one hold it and frees
 * it with the process. It does not see Kafka, nor holders in another network namespace; the pid in the file at least
 * tells a person who it was. Off Linux, where such names outlive their process, the pid file alone decides.
 */
export function lockWithoutFcntl(path: string): DiskLock | undefined {
  return orDiskError('lock', path, () => {
    const socket = process.platform === 'linux' ? bindName(path) : undefined
    if (process.platform === 'linux' && socket === undefined) return undefined
    if (socket === undefined && isHeldByLivingProcess(path)) return undefined
    fs.writeFileSync(path, identity())
    const release = () => {
      fs.writeFileSync(path, '')
      socket?.close()
    }
    return { release }
  })
}

/** A socket in Linux's abstract namespace; undefined when somebody has bound that name. Binding happens in the call. */
function bindName(path: string): net.Server | undefined {
  fs.closeSync(fs.openSync(path, 'a'))
  const { dev, ino } = fs.statSync(path, { bigint: true })
  const name = createHash('sha256').update(`${dev}:${ino}`).digest('hex')
  const server = net.createServer(socket => socket.destroy())
  server.on('error', () => undefined)
  server.listen({ path: `\0millrace-lock-${name}`, exclusive: true })
  server.unref()
  return server.listening ? server : undefined
}

/** One process in time: pids are used again, in containers the same one at every start. */
function identity(): string {
  return `${process.pid} ${Math.floor(performance.timeOrigin)}\n`
}

function isHeldByLivingProcess(path: string): boolean {
  if (!fs.existsSync(path)) return false
  const text = fs.readFileSync(path, 'utf8')
  const pid = Number(text.split(' ')[0])
  if (!(pid > 0)) return false
  if (pid === process.pid) return text === identity()
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
