import type { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'

/** Names one waiting request of one node; made by the shell, never reused. */
export type RequestId = number

export interface Decision<Rec, Soft, Reply, Effect> {
  /** One batch: all of it or nothing is in the log. */
  readonly records: readonly Rec[]
  /** May answer requests that other commands left waiting. */
  readonly replies: readonly { readonly requestId: RequestId; readonly reply: Reply }[]
  /** Changes that are never logged: deadlines, waiting members. */
  readonly soft: readonly Soft[]
  /** For the shell to carry out once the records are committed: an image to publish, a partition to open. */
  readonly effects: readonly Effect[]
  /**
   * The replies depend on nothing uncommitted (a heartbeat): they leave at once. Only without records.
   * Otherwise replies and effects wait until the tail that `decide` saw, with these records, is committed.
   */
  readonly answersAtOnce?: boolean
  /** The records may be spread over several batches when they are too large for one: atomicity is not needed. */
  readonly maySplit?: boolean
}

/** What every command is: who waits for its answer, if anyone does. */
export interface CommandBase {
  /** Undefined: the node itself, which needs no answer (a deadline, a deleted topic). */
  readonly requestId?: RequestId
}

/**
 * A decider. Live durable state must equal replayed state, so durable state changes in `apply` and `applyMarker` only, and
 * they read no clock, no configuration and no image. `decide` reads and changes nothing.
 */
export interface StateMachine<Command extends CommandBase, Rec, Soft, Reply, Effect, View> {
  decide(command: Command, now: Now): Decision<Rec, Soft, Reply, Effect>
  /**
   * The records of the command were refused: nothing has changed, and whoever asked is answered so. A decision without
   * records, where others wait for what will not come; undefined where the next try may succeed.
   */
  refused?(command: Command, errorCode: ErrorCode, now: Now): Decision<Rec, Soft, Reply, Effect> | undefined
  /** The only place durable state changes, live and on replay. */
  apply(record: Rec, at: { readonly offset: number; readonly producerId: number; readonly producerEpoch: number }): void
  applyMarker(marker: {
    readonly producerId: number
    readonly producerEpoch: number
    readonly committed: boolean
  }): void
  /** The only place soft state changes. */
  applySoft(change: Soft): void
  /** After replay: soft state is set up anew. `View` is the small interface of the image that this machine declares. */
  loaded(now: Now, image: View): void
  /** Monotonic time at which the shell calls decide with the machine's timeout command, if at all. Asked again after it ran. */
  nextDeadlineMs(): number | undefined
  /** State that can be printed and compared: durable and soft apart. */
  inspect(): { readonly durable: unknown; readonly soft: unknown }
}
