import { type Uuid, zeroUuid } from '../../base/uuid.ts'

/** What a fetch asks of one partition. */
export interface WantedPartition {
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
  readonly fetchOffset: number
  readonly currentLeaderEpoch: number
  readonly partitionMaxBytes: number
}

export interface ForgottenPartition {
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
}

export interface SessionRequest {
  readonly sessionId: number
  readonly sessionEpoch: number
  /** Those that are new to the broker, or have changed. All of them when the session is new. */
  readonly partitions: readonly WantedPartition[]
  readonly forgotten: readonly ForgottenPartition[]
}

const maxEpoch = 0x7fff_ffff

/**
 * This side of an incremental fetch session with one broker (KIP-227): the broker remembers what is asked for, and each
 * request says only what has changed. One request at a time: `next`, then `answered` or `failed`.
 */
export class FetchSession {
  #sessionId = 0
  /** 0: the next request opens a session, with everything in it. */
  #epoch = 0
  /** What the broker believes to be wanted. */
  #known = new Map<string, WantedPartition>()

  next(wanted: readonly WantedPartition[]): SessionRequest {
    const known = this.#known
    const isFull = this.#epoch === 0
    const next = new Map(wanted.map(one => [keyOf(one), one]))
    this.#known = next
    const session = { sessionId: this.#sessionId, sessionEpoch: this.#epoch }
    if (isFull) return { ...session, partitions: wanted, forgotten: [] }
    const partitions = wanted.filter(one => !isSame(known.get(keyOf(one)), one))
    const forgotten = [...known].filter(([key]) => !next.has(key)).map(([, one]) => one)
    return { ...session, partitions, forgotten }
  }

  /** The broker did as asked. `sessionId` 0: it keeps no session. */
  answered(sessionId: number): void {
    if (sessionId === 0) {
      this.#startAnew(0)
      return
    }
    this.#sessionId = sessionId
    // After the largest epoch comes 1: 0 would open a new session.
    this.#epoch = this.#epoch === maxEpoch ? 1 : this.#epoch + 1
  }

  /** The request failed, or the broker does not know the session: the next one closes it and opens another. */
  failed(): void {
    this.#startAnew(this.#sessionId)
  }

  #startAnew(sessionId: number): void {
    this.#sessionId = sessionId
    this.#epoch = 0
    this.#known = new Map()
  }
}

function keyOf({ topic, topicId, partition }: ForgottenPartition): string {
  // A topic that was created anew is another one.
  return topicId === zeroUuid ? `${topic}/${partition}` : `${topicId}/${partition}`
}

function isSame(known: WantedPartition | undefined, wanted: WantedPartition): boolean {
  return (
    known !== undefined &&
    known.fetchOffset === wanted.fetchOffset &&
    known.currentLeaderEpoch === wanted.currentLeaderEpoch &&
    known.partitionMaxBytes === wanted.partitionMaxBytes
  )
}
