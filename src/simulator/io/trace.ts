/** Lines of the recent past that are kept for the report of a failed run. */
const KEPT_LINES = 64

interface TraceLine {
  readonly timeUs: number
  readonly node: string
  readonly kind: string
  readonly detail: number
}

/**
 * The fingerprint of a run: a rolling hash of what happened, when, to whom and with which bytes. Two runs of one seed
 * have equal hashes at every step, or something outside of the simulated world took part.
 */
export class Trace {
  #low = 0x811c9dc5 | 0
  #high = 0x9747b28c | 0
  #events = 0
  readonly #recent: TraceLine[] = []
  readonly #names = new Map<string, number>()

  /** Events recorded so far. */
  get events(): number {
    return this.#events
  }

  /** 16 hexadecimal digits. */
  get hash(): string {
    return (this.#high >>> 0).toString(16).padStart(8, '0') + (this.#low >>> 0).toString(16).padStart(8, '0')
  }

  /** `detail` is any number that says more: a length, a port, a draw. */
  record(timeUs: number, node: string, kind: string, detail = 0): void {
    this.#events++
    this.#mix(timeUs >>> 0)
    this.#mix(Math.floor(timeUs / 2 ** 32))
    this.#mix(this.#nameHash(node))
    this.#mix(this.#nameHash(kind))
    this.#mix(detail | 0)
    this.#recent[this.#events % KEPT_LINES] = { timeUs, node, kind, detail }
  }

  /** Adds bytes that passed between the node and its world. */
  recordBytes(bytes: Buffer): void {
    this.#mix(hashBytes(bytes))
  }

  /** The last lines, the oldest first. */
  recent(): string[] {
    const start = (this.#events + 1) % KEPT_LINES
    const lines = [...this.#recent.slice(start), ...this.#recent.slice(0, start)].filter(line => line !== undefined)
    return lines.map(line => `${(line.timeUs / 1000).toFixed(3)} ms  ${line.node}  ${line.kind}  ${line.detail}`)
  }

  #mix(word: number): void {
    this.#low = Math.imul(this.#low ^ word, 0x01000193)
    this.#low ^= this.#low >>> 15
    this.#high = Math.imul((this.#high ^ word) + 0x7ed55d16, 0x85ebca6b) ^ this.#low
    this.#high = (this.#high << 11) | (this.#high >>> 21)
  }

  #nameHash(name: string): number {
    let hash = this.#names.get(name)
    if (hash === undefined) {
      hash = hashBytes(Buffer.from(name))
      this.#names.set(name, hash)
    }
    return hash
  }
}

/** 32 bits of some bytes, four at a time. */
export function hashBytes(bytes: Buffer): number {
  let hash = bytes.length | 0
  const whole = bytes.length & ~3
  for (let at = 0; at < whole; at += 4) {
    hash = Math.imul(hash ^ bytes.readInt32LE(at), 0x9e3779b1)
    hash ^= hash >>> 15
  }
  for (let at = whole; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  return (hash ^ (hash >>> 13)) | 0
}
