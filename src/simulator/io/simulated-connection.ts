import { assert } from '../../base/assert.ts'
import type { FileRange } from '../../io/disk.ts'
import { type Connection, NetworkError, type Receiver } from '../../io/network.ts'
import type { Life } from './life.ts'
import type { Pipe, PipeEnd, PipeStart } from './pipe.ts'
import type { CrashKind } from './simulated-disk.ts'
import { SimulatedSendQueue } from './simulated-send-queue.ts'
import type { Host, Wire } from './wire.ts'

/** How long a closing connection waits for what is unsent when the peer has ended its side. */
const PEER_ENDED_LINGER_MS = 30_000
/** After this long without a sign of the other host, the kernel gives a connection up. */
const KEEP_ALIVE_US = 70_000_000

export interface Addresses {
  readonly remoteAddress: string
  readonly remotePort: number
  readonly localPort: number
}

/** One end of a simulated connection. */
export class SimulatedConnection implements Connection, PipeStart, PipeEnd {
  readonly remoteAddress: string
  readonly remotePort: number
  readonly localPort: number
  readonly host: Host
  readonly #life: Life
  readonly #wire: Wire
  #peer: SimulatedConnection | undefined
  #outgoing: Pipe | undefined
  #incoming: Pipe | undefined
  #sends: SimulatedSendQueue | undefined
  #receiver: Receiver | undefined
  readonly #arrivedChunks: Buffer[] = []
  #isPaused = false
  #isDeliveryPlanned = false
  /** The local side has ended (or will, after what is unsent): nothing more is delivered. */
  #isClosing = false
  #hasSentEnd = false
  #peerHasEnded = false
  /** The connection does not exist any more, on this host. */
  #isGone = false
  #isClosedReported = false
  #error: Error | undefined
  readonly #ending: { cancel(): void }
  #linger: { cancel(): void } | undefined
  #silence: { cancel(): void } | undefined

  constructor(life: Life, host: Host, wire: Wire, addresses: Addresses) {
    this.#life = life
    this.#wire = wire
    this.host = host
    this.remoteAddress = addresses.remoteAddress
    this.remotePort = addresses.remotePort
    this.localPort = addresses.localPort
    this.#ending = life.atEnd(kind => this.#processEnded(kind))
  }

  /** Called once, before anybody sends. */
  attach(peer: SimulatedConnection, outgoing: Pipe, incoming: Pipe): void {
    this.#peer = peer
    this.#outgoing = outgoing
    this.#incoming = incoming
    this.#sends = new SimulatedSendQueue(this.#life, this.#wire, outgoing, error => this.destroy(error))
  }

  get unsentBytes(): number {
    return this.#queue.unsentBytes
  }

  get progress(): number {
    return this.#queue.progress
  }

  get peerHost(): Host | undefined {
    return this.#peer?.host
  }

  get isOpen(): boolean {
    return !this.#isGone
  }

  start(receiver: Receiver): void {
    assert(this.#receiver === undefined, 'a connection is started once')
    this.#receiver = receiver
    this.#planDelivery()
    if (this.#isGone) this.#reportClosed()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    assert(this.#receiver !== undefined, 'a connection is started before it is resumed')
    this.#isPaused = false
    this.#planDelivery()
  }

  send(parts: readonly (Buffer | FileRange)[], sent?: (error: Error | undefined) => void): void {
    if (this.#life.isAlive) this.#queue.send(parts, sent)
  }

  close(lingerMs: number): void {
    if (this.#isClosing || this.#isGone || !this.#life.isAlive) return
    this.#isClosing = true
    this.#dropArrived()
    this.#linger = this.#life.schedule('network linger', lingerMs * 1000, () => this.destroy())
    this.#queue.whenEmpty(() => this.#sendEnd())
  }

  /** For clients that say nothing more: the other side is told once all is sent, and what it sends still arrives. */
  endSide(): void {
    this.#queue.whenEmpty(() => this.#sendEnd())
  }

  destroy(reason?: Error): void {
    if (this.#isGone || !this.#life.isAlive) return
    this.#error ??= reason
    this.#breakOff()
  }

  roomy(): void {
    this.#queue.pump()
  }

  arrived(bytes: Buffer): void {
    this.#life.scheduler.trace.recordBytes(bytes)
    this.#arrivedChunks.push(bytes)
    if (this.#isClosing) this.#dropArrived()
    else this.#planDelivery()
  }

  ended(): void {
    this.#peerHasEnded = true
    if (this.#hasSentEnd) this.#vanish()
    else this.#planDelivery()
  }

  wasReset(): void {
    this.#lose(new NetworkError('reset', `the connection with ${this.remoteAddress} was reset`))
  }

  /** The caller had stopped waiting when the connection stood. */
  wasAbandoned(): void {
    if (!this.#isGone) this.#breakOff()
  }

  /** For faults: from now on nothing arrives at the other side, and nobody is told. */
  fallSilent(): void {
    this.#pipes.outgoing.die()
    this.#peer?.watchSilence()
  }

  /** Nothing comes from the other side any more, which the kernel notices after a long time. */
  watchSilence(): void {
    if (this.#isGone) return
    const afterUs = KEEP_ALIVE_US + this.#wire.random.below(10_000_000)
    const giveUp = () => this.#lose(new NetworkError('timedOut', `${this.remoteAddress} has been silent for too long`))
    this.#silence = this.#wire.scheduler.schedule({ kind: 'network keep-alive', afterUs, quiet: true, run: giveUp })
  }

  get #queue(): SimulatedSendQueue {
    assert(this.#sends !== undefined, 'a connection is attached before it is used')
    return this.#sends
  }

  get #pipes(): { outgoing: Pipe; incoming: Pipe } {
    assert(this.#outgoing !== undefined && this.#incoming !== undefined, 'a connection is attached before it is used')
    return { outgoing: this.#outgoing, incoming: this.#incoming }
  }

  #planDelivery(): void {
    const hasNews = this.#arrivedChunks.length > 0 || this.#peerHasEnded
    const mayDeliver = this.#receiver !== undefined && !this.#isPaused && !this.#isGone && !this.#isClosing
    if (this.#isDeliveryPlanned || !hasNews || !mayDeliver) return
    this.#isDeliveryPlanned = true
    this.#life.schedule('network receive', this.#wire.random.delayUs(10), () => {
      this.#isDeliveryPlanned = false
      if (this.#isPaused || this.#isGone || this.#isClosing) return
      if (this.#arrivedChunks.length > 0) this.#deliver()
      else this.#peerEnded()
      this.#planDelivery()
    })
  }

  #deliver(): void {
    const target = this.#receiver?.target()
    const isDirect = target !== undefined && target.length > 0 && this.#wire.random.chance(0.9)
    const place = isDirect ? target : this.#wire.scratch
    const length = this.#fill(place)
    this.#pipes.incoming.consumed(length)
    this.#receiver?.received(place.subarray(0, length))
    // Whoever kept a view of the shared buffer finds other bytes in it.
    if (!isDirect) place.fill(0xdd, 0, length)
  }

  /** Takes arrived bytes, mostly all that fit. */
  #fill(place: Buffer): number {
    let filled = 0
    while (filled < place.length && this.#arrivedChunks.length > 0) {
      const chunk = this.#arrivedChunks[0]!
      const most = Math.min(chunk.length, place.length - filled)
      const length = this.#wire.random.chance(0.9) ? most : this.#wire.random.between(1, most)
      chunk.copy(place, filled, 0, length)
      filled += length
      if (length === chunk.length) this.#arrivedChunks.shift()
      else this.#arrivedChunks[0] = chunk.subarray(length)
      if (this.#wire.random.chance(0.3)) break
    }
    return filled
  }

  #dropArrived(): void {
    const bytes = this.#arrivedChunks.splice(0).reduce((sum, chunk) => sum + chunk.length, 0)
    if (bytes > 0) this.#pipes.incoming.consumed(bytes)
  }

  #peerEnded(): void {
    this.#reportClosed()
    this.close(PEER_ENDED_LINGER_MS)
  }

  #sendEnd(): void {
    this.#hasSentEnd = true
    this.#pipes.outgoing.end()
    if (this.#peerHasEnded) this.#vanish()
  }

  /** Ends the connection from here: the peer sees an end after all that was taken, or a reset. */
  #breakOff(): void {
    const mayBeGentle = this.#arrivedChunks.length === 0 && this.#wire.random.chance(0.5)
    if (mayBeGentle) this.#pipes.outgoing.end()
    else this.#pipes.outgoing.reset()
    this.#vanish()
  }

  #lose(error: NetworkError): void {
    if (this.#isGone) return
    this.#error ??= error
    this.#vanish()
  }

  #vanish(): void {
    this.#isGone = true
    this.#ending.cancel()
    this.#linger?.cancel()
    this.#silence?.cancel()
    this.#queue.abandon(this.#error ?? new NetworkError('reset', 'the connection was closed'))
    this.#reportClosed()
  }

  #reportClosed(): void {
    const receiver = this.#receiver
    if (this.#isClosedReported || receiver === undefined) return
    this.#isClosedReported = true
    const error = this.#error
    this.#life.schedule('network closed', 0, () => receiver.closed(error))
  }

  /** The kernel closes what a dead process had open; a host without power tells nobody. */
  #processEnded(kind: CrashKind): void {
    if (kind === 'kill') this.#breakOff()
    else {
      this.#isGone = true
      this.#peer?.watchSilence()
    }
  }
}
