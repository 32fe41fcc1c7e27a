import { assert } from '../../base/assert.ts'
import type { Host, Wire } from './wire.ts'

/** What travels: bytes, the end of the stream, or a reset. */
type Parcel =
  | { readonly type: 'bytes'; readonly bytes: Buffer; readonly readyAtUs: number }
  | { readonly type: 'end' | 'reset'; readonly readyAtUs: number }

/** The receiving half of a connection, as far as the kernel has it: it is there for as long as the other side may send. */
export interface PipeEnd {
  readonly host: Host
  arrived(bytes: Buffer): void
  ended(): void
  wasReset(): void
  /** False: the connection is gone, and whoever sends to it gets a reset for an answer, if the host is up. */
  readonly isOpen: boolean
}

/** The sending half. */
export interface PipeStart {
  readonly host: Host
  /** There is room again. */
  roomy(): void
  /** The other host knows nothing of this connection. */
  wasReset(): void
}

/** Kernel buffers of one direction together, from which one is drawn for each. */
const windows = [4096, 65_536, 65_536, 1_048_576]

/** One direction of a connection: what the sending kernel has taken arrives in order, each piece after its latency. */
export class Pipe {
  readonly #wire: Wire
  readonly #start: PipeStart
  readonly #end: PipeEnd
  readonly #windowBytes: number
  #parcels: Parcel[] = []
  /** Taken from the sender and not yet consumed by the receiver. */
  #unconsumedBytes = 0
  #isArrivalPlanned = false
  #isRoomPlanned = false
  /** Set when the connection silently stops working: nothing arrives any more. */
  #isDead = false

  constructor(wire: Wire, start: PipeStart, end: PipeEnd) {
    this.#wire = wire
    this.#start = start
    this.#end = end
    this.#windowBytes = wire.random.pick(windows)
  }

  /** Bytes that can be taken at present. */
  get room(): number {
    return this.#windowBytes - this.#unconsumedBytes
  }

  transmit(bytes: Buffer): void {
    assert(bytes.length > 0 && bytes.length <= this.room, 'no more is taken than there is room for')
    this.#unconsumedBytes += bytes.length
    this.#add({ type: 'bytes', bytes, readyAtUs: this.#readyUs() })
    if (this.#wire.random.chance(this.#wire.settings.resetChance))
      this.#add({ type: 'reset', readyAtUs: this.#readyUs() })
  }

  /** The sender has ended its stream: known to the receiver after all bytes. */
  end(): void {
    this.#add({ type: 'end', readyAtUs: this.#readyUs() })
  }

  /** The connection is broken; what is under way may be lost. */
  reset(): void {
    if (this.#wire.random.chance(0.5)) this.#parcels = []
    this.#add({ type: 'reset', readyAtUs: this.#readyUs() })
  }

  /** As when a host between the two forgets the connection: both sides wait. */
  die(): void {
    this.#isDead = true
    this.#parcels = []
  }

  /** The receiver has taken bytes out of its kernel; the sender hears of it after a while. */
  consumed(bytes: number): void {
    this.#unconsumedBytes -= bytes
    assert(this.#unconsumedBytes >= 0, 'no more is consumed than was sent')
    if (this.#isRoomPlanned || this.#isDead) return
    this.#isRoomPlanned = true
    this.#wire.carry(this.#end.host, this.#start.host, 'network room', () => {
      this.#isRoomPlanned = false
      this.#start.roomy()
    })
  }

  /** One parcel after the other: nothing overtakes what was sent before. */
  tryAgain(): void {
    if (this.#isArrivalPlanned || this.#parcels.length === 0) return
    this.#isArrivalPlanned = true
    const first = this.#parcels[0] as Parcel
    const afterUs = Math.max(0, first.readyAtUs - this.#wire.scheduler.timeUs)
    this.#wire.scheduler.schedule({ kind: 'network arrival', afterUs, quiet: true, run: () => this.#arrive() })
  }

  #add(parcel: Parcel): void {
    if (this.#isDead) return
    this.#parcels.push(parcel)
    this.tryAgain()
  }

  #readyUs(): number {
    return this.#wire.scheduler.timeUs + this.#wire.latencyUs(this.#start.host, this.#end.host)
  }

  #arrive(): void {
    this.#isArrivalPlanned = false
    if (this.#wire.isBlocked(this.#start.host, this.#end.host)) {
      this.#wire.wait(this)
      return
    }
    const parcel = this.#parcels.shift()
    if (parcel === undefined) return
    if (this.#end.isOpen) this.#handOver(parcel)
    else if (this.#end.host.isUp) this.#answerWithReset()
    this.tryAgain()
  }

  #handOver(parcel: Parcel): void {
    if (parcel.type === 'bytes') this.#end.arrived(parcel.bytes)
    else if (parcel.type === 'end') this.#end.ended()
    else this.#end.wasReset()
  }

  #answerWithReset(): void {
    this.#parcels = []
    this.#wire.carry(this.#end.host, this.#start.host, 'network reset', () => this.#start.wasReset())
  }
}
