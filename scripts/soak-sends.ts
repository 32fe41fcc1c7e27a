/**
 * Sends file ranges over many connections while files are cut, rewritten, removed and replaced, connections are broken on
 * either side, readers stall and other files are opened and closed all the time; checks every byte that arrives. A
 * descriptor that is used after it was closed shows as bytes of another file.
 *
 *   node scripts/soak-sends.ts [--sends 1000000] [--sendfile false] [--native false] [--directory /dev/shm]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { DiskFile } from '../src/io/disk.ts'
import type { Connection, Receiver } from '../src/io/network.ts'
import { nodeIo } from '../src/io/node/node-io.ts'

const { values } = parseArgs({
  options: {
    sends: { type: 'string', default: '1000000' },
    sendfile: { type: 'string', default: 'true' },
    native: { type: 'string', default: 'true' },
    directory: { type: 'string', default: tmpdir() },
  },
})

const CONNECTIONS = 12
const FILES = 12
const MAX_FILE_BYTES = 1_500_000
const IN_FLIGHT = 12
const HEAD_BYTES = 8
const SENDS_PER_DISTURBANCE = 30
const PATTERN_BYTES = 1 << 16

const directory = mkdtempSync(join(values.directory, 'millrace-soak-'))
const io = nodeIo({
  log: { write: () => undefined },
  sendfile: values.sendfile !== 'false',
  ...(values.native === 'false' ? { native: null } : {}),
})
const { random, disk, network, clock } = io
const counts = { sends: 0, done: 0, failed: 0, bytes: 0, changed: 0, cuts: 0, removals: 0, breaks: 0, stalls: 0 }

/** A piece of a file, with the bytes that are in it from its start. */
interface Region {
  readonly start: number
  readonly pattern: Buffer
}

/** A file whose content is known at every position. */
class KnownFile {
  readonly file: DiskFile
  #regions: Region[] = []
  static #made = 0

  constructor() {
    this.file = disk.open(`${directory}/log-${KnownFile.#made++}`, 'create')
    this.#regions.push({ start: 0, pattern: random.bytes(PATTERN_BYTES) })
  }

  grow(): Promise<void> {
    const bytes = this.expected(this.file.sizeBytes, 1 + random.below(MAX_FILE_BYTES / 2))
    return new Promise((resolve, reject) => {
      this.file.append(bytes, error => (error === undefined ? resolve() : reject(error)))
    })
  }

  /** Cuts it, and from there on it has other bytes than before. */
  cut(): void {
    const end = random.below(this.file.sizeBytes + 1)
    for (const checker of checkers) checker.fileWasCut(this, end)
    this.file.truncate(end)
    this.#regions = this.#regions.filter(region => region.start < end)
    this.#regions.push({ start: end, pattern: random.bytes(PATTERN_BYTES) })
  }

  /** What these positions hold at present, as views. */
  expected(position: number, length: number): Buffer[] {
    const parts: Buffer[] = []
    for (let at = position; at < position + length; ) {
      const index = this.#regions.findLastIndex(region => region.start <= at)
      const { start, pattern } = this.#regions[index]!
      const regionEnd = this.#regions[index + 1]?.start ?? Infinity
      const offset = (at - start) % PATTERN_BYTES
      const part = Math.min(PATTERN_BYTES - offset, regionEnd - at, position + length - at)
      parts.push(pattern.subarray(offset, offset + part))
      at += part
    }
    return parts
  }
}

/** Bytes that are to arrive; which file they are of, and up to where, if any. */
interface Expected {
  bytes: Buffer
  readonly known: KnownFile | undefined
  readonly endPosition: number
  /** The file was cut below them before they were read: what sendfile had handed to the kernel may have changed there. */
  isUncertain: boolean
}

/** Checks one connection's stream against what was sent on it. */
class Checker implements Receiver {
  readonly expected: Expected[] = []
  connection: Connection | undefined
  isClosed = false

  target(): undefined {
    return undefined
  }

  received(bytes: Buffer): void {
    counts.bytes += bytes.length
    for (let at = 0; at < bytes.length; ) {
      const next = this.expected[0]
      if (next === undefined) throw new Error('more bytes arrived than were sent')
      const length = Math.min(next.bytes.length, bytes.length - at)
      const isEqual = next.bytes.compare(bytes, at, at + length, 0, length) === 0
      if (!isEqual && !next.isUncertain) throw new Error('other bytes arrived than were sent')
      if (!isEqual) counts.changed++
      if (length === next.bytes.length) this.expected.shift()
      else next.bytes = next.bytes.subarray(length)
      at += length
    }
    if (random.below(400) === 0) this.#stall()
    if (random.below(20_000) === 0) {
      counts.breaks++
      this.connection?.destroy()
    }
  }

  closed(): void {
    this.isClosed = true
    checkers.delete(this)
  }

  fileWasCut(known: KnownFile, end: number): void {
    for (const one of this.expected) if (one.known === known && one.endPosition > end) one.isUncertain = true
  }

  #stall(): void {
    counts.stalls++
    this.connection?.pause()
    clock.after(random.below(30), () => {
      if (!this.isClosed) this.connection?.resume()
    })
  }
}

const checkers = new Set<Checker>()
const files: KnownFile[] = []
for (let number = 0; number < FILES; number++) files.push(await grown(new KnownFile()))

async function grown(file: KnownFile): Promise<KnownFile> {
  await file.grow()
  return file
}

let accepted: (connection: Connection) => void = () => undefined
const listener = await network.listen({ host: '127.0.0.1', port: 0 }, { accept: one => accepted(one) })

async function openConnection(): Promise<{ server: Connection; checker: Checker; serverClosed: () => boolean }> {
  const arrival = new Promise<Connection>(resolve => {
    accepted = resolve
  })
  const client = await network.connect(listener.endpoint, { timeoutMs: 5000 })
  const server = await arrival
  const checker = new Checker()
  checker.connection = client
  checkers.add(checker)
  let isClosed = false
  const noteClosed = () => {
    isClosed = true
  }
  server.start({ target: () => undefined, received: () => undefined, closed: noteClosed })
  client.start(checker)
  return { server, checker, serverClosed: () => isClosed }
}

let connecting = Promise.resolve()
/** One after the other, so that each accepted connection is matched with its client. */
function connectInTurn() {
  const opened = connecting.then(openConnection)
  connecting = opened.then(() => undefined)
  return opened
}

const wanted = Number(values.sends)

async function keepSending(): Promise<void> {
  while (counts.sends < wanted) {
    const { server, checker, serverClosed } = await connectInTurn()
    let inFlight = 0
    while (counts.sends < wanted && !serverClosed() && !checker.isClosed) {
      while (inFlight < IN_FLIGHT) {
        inFlight++
        sendSomething(server, checker, () => inFlight--)
      }
      if (random.below(3000) === 0) {
        counts.breaks++
        server.destroy()
      }
      await clock.yieldTurn()
    }
    checker.connection?.destroy()
    server.destroy()
    while (inFlight > 0) await clock.yieldTurn()
  }
}

function sendSomething(server: Connection, checker: Checker, ended: () => void): void {
  const { known, position, length } = pickRange()
  const head = random.bytes(HEAD_BYTES)
  const endPosition = position + length
  checker.expected.push({ bytes: head, known: undefined, endPosition: 0, isUncertain: false })
  for (const bytes of known.expected(position, length))
    checker.expected.push({ bytes, known, endPosition, isUncertain: false })
  known.file.retain()
  counts.sends++
  server.send([head, { file: known.file, position, length }], error => {
    if (error === undefined) counts.done++
    else counts.failed++
    ended()
  })
}

function pickRange() {
  const known = files[random.below(files.length)]!
  const { file } = known
  const position = random.below(file.sizeBytes + 1)
  const most = Math.min(file.sizeBytes - position, random.below(8) === 0 ? MAX_FILE_BYTES : 20_000)
  return { known, position, length: random.below(most + 1) }
}

/** Faults at the files, and descriptors that come and go. */
async function disturb(): Promise<void> {
  while (counts.sends < wanted) {
    const index = random.below(files.length)
    const known = files[index]!
    if (random.below(40) === 0) {
      counts.cuts++
      known.cut()
      await known.grow()
    } else if (random.below(10) === 0) {
      counts.removals++
      files[index] = await grown(new KnownFile())
      known.file.release()
      await disk.remove(known.file.path)
    } else if (known.file.sizeBytes < MAX_FILE_BYTES) await known.grow()
    disk.writeSmallFile(`${directory}/secret`, random.bytes(5000))
    disk.open(`${directory}/secret`, 'read').release()
    const next = counts.sends + SENDS_PER_DISTURBANCE
    while (counts.sends < Math.min(next, wanted)) await clock.yieldTurn()
  }
}

const startMs = clock.now().monotonicMs
await Promise.all([disturb(), ...Array.from({ length: CONNECTIONS }, keepSending)])
const seconds = (clock.now().monotonicMs - startMs) / 1000
console.log(
  JSON.stringify({ ...counts, seconds: Math.round(seconds), sendfile: io.usesSendfile, through: io.nativeCalls }),
)
await listener.close()
for (const known of files) known.file.release()
rmSync(directory, { recursive: true })
