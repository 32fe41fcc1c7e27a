/**
 * What the real `Io` costs, in CPU-seconds of this process per GB: bytes in (socket, frame, CRC-32C, append to the page
 * cache, answer) and out (request, length, file range). The other side is a process of its own.
 *
 *   node scripts/measure-io.ts [in|out] [--connections 1] [--frame 1000000] [--gb 4] [--sendfile false] [--native false]
 *     [--buffers false] [--directory /dev/shm] [--listen PORT]      with --listen, somebody else connects, and closing the connections ends it
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Lease } from '../src/base/lease.ts'
import { FrameReader } from '../src/channel/frame-reader.ts'
import type { DiskFile } from '../src/io/disk.ts'
import type { Connection } from '../src/io/network.ts'
import { nodeIo } from '../src/io/node/node-io.ts'
import { crc32c } from '../src/records/crc32c.ts'

const SEGMENT_BYTES = 1 << 28
const REQUEST_BYTES = 16
const IN_FLIGHT = 5

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    connections: { type: 'string', default: '1' },
    frame: { type: 'string', default: '1000000' },
    gb: { type: 'string', default: '4' },
    sendfile: { type: 'string', default: 'true' },
    native: { type: 'string', default: 'true' },
    buffers: { type: 'string', default: 'true' },
    directory: { type: 'string', default: tmpdir() },
    listen: { type: 'string' },
    peer: { type: 'string' },
  },
})
const connections = Number(values.connections)
const frameBytes = Number(values.frame)
const totalBytes = Number(values.gb) * 1e9

async function measure(direction: string): Promise<void> {
  const directory = mkdtempSync(join(values.directory, 'millrace-measure-'))
  const io = nodeIo({
    sendfile: values.sendfile !== 'false',
    readIntoBuffers: values.buffers !== 'false',
    ...(values.native === 'false' ? { native: null } : {}),
  })
  const serve = direction === 'in' ? takeFrames(io.disk.open(`${directory}/log`, 'create')) : await giveRanges()
  let open = 0
  let start = { cpu: process.cpuUsage(), ms: 0 }
  const finished = Promise.withResolvers<void>()
  const accept = (connection: Connection) => {
    if (open++ === 0) start = { cpu: process.cpuUsage(), ms: performance.now() }
    serve.accept(connection, () => {
      if (--open === 0) finished.resolve()
    })
  }
  const listener = await io.network.listen({ host: '127.0.0.1', port: Number(values.listen ?? 0) }, { accept })
  if (values.listen === undefined) startPeer(direction, listener.endpoint.port)
  await finished.promise
  const cpu = process.cpuUsage(start.cpu)
  const gigabytes = serve.bytes() / 1e9
  const seconds = (performance.now() - start.ms) / 1000
  const perGigabyte = (microseconds: number) => (microseconds / 1e6 / gigabytes).toFixed(3)
  console.log(
    `${direction.padEnd(4)} ${connections} connection(s) of ${frameBytes} B  ` +
      `${perGigabyte(cpu.user + cpu.system)} CPU-s/GB (user ${perGigabyte(cpu.user)})  ` +
      `${((gigabytes * 1000) / seconds).toFixed(0)} MB/s  rss ${Math.round(process.memoryUsage.rss() / 1e6)} MB  ${serve.note()}`,
  )
  await listener.close()
  rmSync(directory, { recursive: true })

  async function giveRanges() {
    const file = io.disk.open(`${directory}/log`, 'create')
    const block = Buffer.alloc(1 << 20, 7)
    for (let at = 0; at < SEGMENT_BYTES; at += block.length) await new Promise(resolve => file.append([block], resolve))
    return answerWithRanges(file)
  }
}

interface Server {
  accept(connection: Connection, closed: () => void): void
  bytes(): number
  note(): string
}

/** Slabs of one size, kept for the next. */
class Slabs {
  readonly #free: Buffer[] = []

  lease(bytes: number): Lease {
    const slab = this.#free.pop() ?? Buffer.allocUnsafeSlow(Math.max(bytes, frameBytes))
    return { bytes: slab, release: () => void this.#free.push(slab) }
  }

  forget(): void {}

  copy(bytes: Buffer): Lease {
    return { bytes: Buffer.from(bytes), release: () => {} }
  }
}

function takeFrames(file: DiskFile): Server {
  const answer = Buffer.alloc(REQUEST_BYTES)
  const memory = new Slabs()
  let total = 0
  let appends = 0
  const frame = (connection: Connection, bytes: Buffer): 'taken' => {
    total += bytes.length + 4
    crc32c(bytes)
    appends++
    file.append([bytes], error => {
      if (error !== undefined) throw error
      if (--appends === 0 && file.sizeBytes > SEGMENT_BYTES) file.truncate(0)
    })
    connection.send([answer])
    return 'taken'
  }
  return {
    accept(connection, closed) {
      const frames = new FrameReader({
        maxFrameBytes: 1 << 27,
        memory,
        frame: bytes => frame(connection, bytes),
        failed: error => connection.destroy(new Error(error)),
        pause: () => connection.pause(),
        resume: () => connection.resume(),
      })
      connection.start({
        target: () => frames.target(),
        received: bytes => frames.received(bytes),
        closed,
      })
    },
    bytes: () => total,
    note: () => '',
  }
}

function answerWithRanges(file: DiskFile): Server {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(frameBytes)
  let total = 0
  let position = 0
  const answer = (connection: Connection) => {
    total += frameBytes
    if (position + frameBytes > SEGMENT_BYTES) position = 0
    file.retain()
    connection.send([head, { file, position, length: frameBytes }])
    position += frameBytes
  }
  return {
    accept(connection, closed) {
      let pending = 0
      connection.start({
        target: () => undefined,
        received(bytes) {
          for (pending += bytes.length; pending >= REQUEST_BYTES; pending -= REQUEST_BYTES) answer(connection)
        },
        closed,
      })
    },
    bytes: () => total,
    note: () => '',
  }
}

function startPeer(direction: string, port: number): void {
  const options = ['--peer', String(port), '--connections', String(connections), '--frame', String(frameBytes)]
  const script = [import.meta.filename, direction, ...options, '--gb', values.gb]
  spawn(process.execPath, script, { stdio: 'inherit' })
}

async function bePeer(direction: string, port: number): Promise<void> {
  const rounds = Math.ceil(totalBytes / frameBytes / connections)
  const act = direction === 'in' ? sendFrames : askForRanges
  await Promise.all(Array.from({ length: connections }, () => act(port, rounds)))
}

/** Sends frames and waits for 16 bytes for each, so many in flight. */
function sendFrames(port: number, rounds: number): Promise<void> {
  const frame = Buffer.alloc(4 + frameBytes, 5)
  frame.writeUInt32BE(frameBytes)
  return converse(port, REQUEST_BYTES, rounds, socket => socket.write(frame))
}

/** Asks with 16 bytes for a frame and reads it. */
function askForRanges(port: number, rounds: number): Promise<void> {
  const request = Buffer.alloc(REQUEST_BYTES)
  return converse(port, 4 + frameBytes, rounds, socket => socket.write(request))
}

function converse(port: number, answerBytes: number, rounds: number, ask: (socket: net.Socket) => void): Promise<void> {
  return new Promise(resolve => {
    let asked = 0
    let answered = 0
    let pending = 0
    const buffer = Buffer.alloc(1 << 20)
    const receive = (length: number) => {
      for (pending += length; pending >= answerBytes; pending -= answerBytes) {
        answered++
        if (asked++ < rounds) ask(socket)
      }
      if (answered === rounds) {
        socket.destroy()
        resolve()
      }
      return true
    }
    const socket = net.connect(
      { port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback: receive } },
      () => {
        for (; asked < Math.min(IN_FLIGHT, rounds); asked++) ask(socket)
      },
    )
  })
}

if (values.peer !== undefined) await bePeer(positionals[0] ?? 'in', Number(values.peer))
else for (const direction of positionals.length > 0 ? positionals : ['in', 'out']) await measure(direction)
