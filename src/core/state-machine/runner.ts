import { assert } from '../../base/assert.ts'
import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import { EncodeError } from '../../protocol/protocol-error.ts'
import type { BatchCodec } from './batch-codec.ts'
import { Deadline, Deadlines } from './deadlines.ts'
import type { ReplicatedLog } from './replicated-log.ts'
import type { CommandBase, Decision, RequestId, StateMachine } from './state-machine.ts'

export interface RunnerOptions<Command extends CommandBase, Rec, Soft, Reply, Effect, View> {
  /** A machine without any state: called for each load. */
  readonly createMachine: () => StateMachine<Command, Rec, Soft, Reply, Effect, View>
  readonly codec: BatchCodec<Rec>
  readonly log: ReplicatedLog
  /** What the machine is asked to decide when a deadline of its own has come. */
  readonly timeoutCommand: Command
  /**
   * The answer to a command that was not carried out. `errorCode` is NOT_COORDINATOR (not loaded, or unloaded while it
   * waited), COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE (too many answers wait, or one has waited too long) or
   * what the log refused the reservation with; the machine says what its clients understand instead.
   */
  readonly failureReply: (command: Command, errorCode: ErrorCode) => Reply
  /** Exactly once for each request that was submitted; may submit again. */
  readonly answer: (requestId: RequestId, reply: Reply) => void
  /** An effect whose records are committed; may submit again. */
  readonly carryOut: (effect: Effect) => void
  /** The machine has unloaded itself after a failed write: load it again if this node still leads. Once per fault. */
  readonly reload: () => void
  /** Once for each unknown type of record in one load. */
  readonly unknownRecordType: (type: string) => void
  /** How long an answer may wait for its records to be committed, unless the request says otherwise. */
  readonly answerTimeoutMs: number
  /** The most answers that wait for a commit; above it commands are answered COORDINATOR_NOT_AVAILABLE at once. */
  readonly maxWaitingAnswers: number
}

/** After a timeout whose records the log refused, the next try. */
const refusedTimeoutRetryMs = 500
/** Timeouts that are decided in one turn; the rest in the next, so that a stalled loop does not stall again. */
const maxTimeoutsPerTurn = 64

type RunnerState = 'unloaded' | 'loading' | 'loaded'

/** A request that was submitted and not yet answered. */
interface OpenRequest<Command> {
  readonly command: Command
  readonly answerTimeoutMs: number
  /** Set once an answer exists that waits for a commit. */
  deadline: Deadline<RequestId> | undefined
}

/** Answers and effects that leave when everything below `endOffset` is committed. */
interface Waiting<Reply, Effect> {
  readonly endOffset: number
  readonly replies: Decision<never, never, Reply, Effect>['replies']
  readonly effects: readonly Effect[]
}

/** Records of one decision that go into one batch. */
interface Part<Rec> {
  readonly records: readonly Rec[]
  readonly batch: Buffer
}

type Delivery<Reply, Effect> =
  | { readonly type: 'answer'; readonly requestId: RequestId; readonly reply: Reply }
  | { readonly type: 'effect'; readonly effect: Effect }
  | { readonly type: 'reload' }

/**
 * Runs one replicated state machine: the same for every coordinator and for the controller's decider. Synchronous; what
 * belongs to the disk, the network and the clock is the shell's, by this contract:
 *
 * Life. A runner is made unloaded. When this node becomes leader the shell calls `startLoading()`, then `replayBatch(batch)`
 * for every whole batch of the log from its start to `log.nextOffset`, in order, yielding between calls as it likes, then
 * `loaded(now, view)`. If it loses leadership, or the load fails, it calls `unload()`, in any state. Every wait is answered
 * NOT_COORDINATOR then, and the state is gone.
 *
 * Commands. `submit(command, now)` in any state: a command with a request id is answered by `answer` exactly once, within
 * the call or later; one that the machine keeps waiting (a JoinGroup) may be answered by another command or by a
 * deadline. A command without one is the node's own (a topic was deleted): the caller sees what it was refused with.
 * `answer` and `carryOut` may submit again: that is decided before they return, and what comes of it is delivered after.
 *
 * The log. Within `submit` the runner calls `log.reserve` and, in the same turn, `log.append`. The shell calls `committed()`
 * whenever `log.highWatermark` has moved, and `appendFailed()` when a batch that was appended is not in the log (a
 * failed write; everything from it on is gone). Both come in a later turn than the append. The runner unloads itself
 * then and asks for a reload, once per fault; what is refused from then on is the log directory's state to say.
 *
 * Time. The shell keeps `nextDeadlineMs()` in its heap, asks again after every call of any method here, and calls
 * `timeout(now)` when it has come.
 *
 * Order of a decision: decide, encode, reserve, apply, applySoft, append; replies and effects when the records are committed.
 * A refused reservation changes nothing and fails only its own command, unless the machine says what else comes of it. A decision without records applies its soft
 * changes at once and is answered when the tail that it saw is committed, or at once if it says so.
 */
export class StateMachineRunner<Command extends CommandBase, Rec, Soft, Reply, Effect, View> {
  readonly #options: RunnerOptions<Command, Rec, Soft, Reply, Effect, View>
  #state: RunnerState = 'unloaded'
  /** Defined unless unloaded. */
  #machine: StateMachine<Command, Rec, Soft, Reply, Effect, View> | undefined
  readonly #open = new Map<RequestId, OpenRequest<Command>>()
  /** Ascending by end offset. */
  #waiting: Waiting<Reply, Effect>[] = []
  #waitingAnswers = 0
  readonly #answerDeadlines = new Deadlines<RequestId>()
  /** The log refused the records of a timeout: no other before this. */
  #timeoutsPausedUntilMs = Number.NEGATIVE_INFINITY
  #unknownTypes = new Set<string>()
  #outbox: Delivery<Reply, Effect>[] = []
  #isDelivering = false
  /** A command is being decided or carried out: nothing may enter before it is done. */
  #isDeciding = false

  constructor(options: RunnerOptions<Command, Rec, Soft, Reply, Effect, View>) {
    this.#options = options
  }

  get state(): RunnerState {
    return this.#state
  }

  /** Answers that wait for a commit. */
  get waitingAnswers(): number {
    return this.#waitingAnswers
  }

  /** Requests that were submitted and not answered, those that the machine keeps waiting among them. */
  get openRequests(): number {
    return this.#open.size
  }

  /** Durable and soft state for whoever checks them; undefined unless loaded. */
  inspect(): { readonly durable: unknown; readonly soft: unknown } | undefined {
    return this.#state === 'loaded' ? this.#machine!.inspect() : undefined
  }

  startLoading(): void {
    assert(this.#state === 'unloaded', 'a machine is unloaded before it is loaded')
    this.#state = 'loading'
    this.#machine = this.#options.createMachine()
    this.#unknownTypes = new Set()
    this.#timeoutsPausedUntilMs = Number.NEGATIVE_INFINITY
  }

  /**
   * One whole batch of the log, the one that follows the last. Its bytes are not kept. Throws a ProtocolError when they
   * cannot be read: the load has failed then.
   */
  replayBatch(batch: Buffer): void {
    assert(this.#state === 'loading', 'only a loading machine replays')
    const machine = this.#machine!
    const decoded = this.#options.codec.decode(batch)
    if (decoded.type === 'marker') machine.applyMarker(decoded)
    if (decoded.type !== 'data') return
    const { producerId, producerEpoch } = decoded
    for (const { offset, record } of decoded.records) machine.apply(record, { offset, producerId, producerEpoch })
    for (const type of decoded.unknownTypes) {
      if (this.#unknownTypes.has(type)) continue
      this.#unknownTypes.add(type)
      this.#options.unknownRecordType(type)
    }
  }

  loaded(now: Now, view: View): void {
    assert(this.#state === 'loading', 'only a loading machine becomes loaded')
    this.#machine!.loaded(now, view)
    this.#state = 'loaded'
  }

  /** Leadership or the directory is lost. Nothing happens when it is unloaded already. */
  unload(): void {
    if (this.#state === 'unloaded') return
    this.#drop()
    this.#deliver()
  }

  /** A batch that was appended did not reach the log, and neither did any after it. */
  appendFailed(): void {
    if (this.#state === 'unloaded') return
    this.#drop()
    this.#outbox.push({ type: 'reload' })
    this.#deliver()
  }

  /** The high watermark has moved. */
  committed(): void {
    assert(!this.#isDeciding, 'a commit is reported in a later turn than the append')
    if (this.#releaseCommitted()) this.#deliver()
  }

  /**
   * `answerTimeoutMs`: how long this request may wait for its records to be committed. Returns what the command was
   * refused with, if it was; whoever waits has been answered so too.
   */
  submit(command: Command, now: Now, answerTimeoutMs = this.#options.answerTimeoutMs): ErrorCode | undefined {
    const { requestId } = command
    if (requestId !== undefined) {
      assert(!this.#open.has(requestId), 'a request id is used once')
      this.#open.set(requestId, { command, answerTimeoutMs, deadline: undefined })
    }
    const errorCode = this.#state === 'loaded' ? this.#run(command, now) : this.#unavailableCode()
    if (errorCode !== undefined && requestId !== undefined) this.#failOpen(requestId, errorCode)
    this.#deliver()
    return errorCode
  }

  /** Monotonic time at which to call `timeout`; undefined: not at all. */
  nextDeadlineMs(): number | undefined {
    if (this.#state !== 'loaded') return undefined
    const answerMs = this.#answerDeadlines.earliest()?.atMs
    const machineMs = this.#machine!.nextDeadlineMs()
    if (machineMs === undefined) return answerMs
    const dueMs = Math.max(machineMs, this.#timeoutsPausedUntilMs)
    return answerMs === undefined ? dueMs : Math.min(answerMs, dueMs)
  }

  /** A deadline may have come. Harmless when none has. */
  timeout(now: Now): void {
    if (this.#state !== 'loaded') return
    this.#failOverdueAnswers(now)
    for (let count = 0; count < maxTimeoutsPerTurn && this.#machineIsDue(now); count++) {
      const errorCode = this.#run(this.#options.timeoutCommand, now)
      if (errorCode !== undefined) this.#timeoutsPausedUntilMs = now.monotonicMs + refusedTimeoutRetryMs
    }
    this.#deliver()
  }

  #unavailableCode(): ErrorCode {
    return this.#state === 'loading' ? ErrorCode.coordinatorLoadInProgress : ErrorCode.notCoordinator
  }

  #drop(): void {
    assert(!this.#isDeciding, 'a machine is not unloaded while it decides')
    this.#state = 'unloaded'
    this.#machine = undefined
    this.#waiting = []
    for (const requestId of [...this.#open.keys()]) this.#failOpen(requestId, ErrorCode.notCoordinator)
    assert(this.#waitingAnswers === 0, 'no answer waits when the machine is unloaded')
  }

  #machineIsDue(now: Now): boolean {
    if (this.#timeoutsPausedUntilMs > now.monotonicMs) return false
    const dueMs = this.#machine!.nextDeadlineMs()
    return dueMs !== undefined && dueMs <= now.monotonicMs
  }

  /** Decides and carries out, up to what has to wait. Returns a code when the decision was dropped. */
  #run(command: Command, now: Now): ErrorCode | undefined {
    assert(!this.#isDeciding, 'one command is decided at a time')
    this.#isDeciding = true
    let decision: Decision<Rec, Soft, Reply, Effect> | undefined
    let errorCode: ErrorCode | undefined
    try {
      decision = this.#machine!.decide(command, now)
      assert(!decision.answersAtOnce || decision.records.length === 0, 'what was recorded is answered when committed')
      errorCode = this.#hasRoomFor(decision) ? this.#change(decision, now) : ErrorCode.coordinatorNotAvailable
      if (errorCode !== undefined) decision = this.#changeAfterRefusal(command, errorCode, now)
    } finally {
      // Also when an invariant broke: whoever stops the node unloads its machines.
      this.#isDeciding = false
    }
    if (decision !== undefined) this.#awaitCommit(decision, now)
    return errorCode
  }

  #changeAfterRefusal(
    command: Command,
    errorCode: ErrorCode,
    now: Now,
  ): Decision<Rec, Soft, Reply, Effect> | undefined {
    const decision = this.#machine!.refused?.(command, errorCode, now)
    if (decision === undefined) return undefined
    assert(decision.records.length === 0, 'a refusal is not recorded')
    this.#applySoft(decision.soft)
    return decision
  }

  #hasRoomFor(decision: Decision<Rec, Soft, Reply, Effect>): boolean {
    if (decision.answersAtOnce || decision.replies.length === 0) return true
    if (decision.records.length === 0 && this.#options.log.nextOffset <= this.#options.log.highWatermark) return true
    return this.#waitingAnswers < this.#options.maxWaitingAnswers
  }

  #change(decision: Decision<Rec, Soft, Reply, Effect>, now: Now): ErrorCode | undefined {
    const { records, soft } = decision
    if (records.length === 0) {
      this.#applySoft(soft)
      return undefined
    }
    const { log } = this.#options
    const batch = this.#encode(records, now)
    if (batch === undefined) return ErrorCode.unknownServerError
    const isWhole = batch.length <= log.maxBatchBytes || !decision.maySplit || records.length === 1
    if (isWhole) return this.#append({ records, batch }, soft, now)
    // The records stand each for itself: those before a refusal stay, and the decision as a whole has failed.
    for (const part of this.#split(records, now)) {
      const errorCode = this.#append(part, [], now)
      if (errorCode !== undefined) return errorCode
    }
    this.#applySoft(soft)
    return undefined
  }

  /** Undefined when a record cannot be: a client's words then fail its own command, and not the node. */
  #encode(records: readonly Rec[], now: Now): Buffer | undefined {
    try {
      return this.#options.codec.encode(records, now)
    } catch (error) {
      if (error instanceof EncodeError) return undefined
      throw error
    }
  }

  #split(records: readonly Rec[], now: Now): Part<Rec>[] {
    const batch = this.#encode(records, now)
    assert(batch !== undefined, 'what could be encoded together can be encoded apart')
    if (batch.length <= this.#options.log.maxBatchBytes || records.length === 1) return [{ records, batch }]
    const middle = records.length >> 1
    return [...this.#split(records.slice(0, middle), now), ...this.#split(records.slice(middle), now)]
  }

  #append({ records, batch }: Part<Rec>, soft: readonly Soft[], now: Now): ErrorCode | undefined {
    const { log } = this.#options
    if (batch.length > log.maxBatchBytes) return ErrorCode.recordListTooLarge
    const baseOffset = log.nextOffset
    const reservation = log.reserve(batch, now)
    if (reservation.type === 'refused') return reservation.errorCode
    assert(reservation.baseOffset === baseOffset, 'a reservation starts at the next offset')
    assert(reservation.lastOffset === baseOffset + records.length - 1, 'a reservation has an offset for each record')
    for (let i = 0; i < records.length; i++) {
      this.#machine!.apply(records[i], { offset: baseOffset + i, producerId: -1, producerEpoch: -1 })
    }
    this.#applySoft(soft)
    log.append(reservation)
    return undefined
  }

  #applySoft(changes: readonly Soft[]): void {
    for (const change of changes) this.#machine!.applySoft(change)
  }

  #awaitCommit(decision: Decision<Rec, Soft, Reply, Effect>, now: Now): void {
    const { replies, effects } = decision
    for (const { requestId } of replies) {
      const open = this.#open.get(requestId)
      assert(open !== undefined && open.deadline === undefined, 'a decision answers requests that have no answer')
    }
    if (replies.length === 0 && effects.length === 0) return
    const endOffset = decision.answersAtOnce ? 0 : this.#options.log.nextOffset
    if (endOffset <= this.#options.log.highWatermark) {
      // Whatever waits for less is committed too and goes first, if the shell has not yet said so.
      if (!decision.answersAtOnce) this.#releaseCommitted()
      this.#release(replies, effects)
      return
    }
    this.#waiting.push({ endOffset, replies, effects })
    for (const { requestId } of replies) this.#startAnswerDeadline(requestId, now)
  }

  #startAnswerDeadline(requestId: RequestId, now: Now): void {
    const open = this.#open.get(requestId)!
    open.deadline = new Deadline(requestId)
    this.#answerDeadlines.set(open.deadline, now.monotonicMs + open.answerTimeoutMs)
    this.#waitingAnswers++
  }

  #failOverdueAnswers(now: Now): void {
    for (;;) {
      const overdue = this.#answerDeadlines.earliest()
      if (overdue === undefined || overdue.atMs! > now.monotonicMs) return
      this.#failOpen(overdue.subject, ErrorCode.coordinatorNotAvailable)
    }
  }

  #releaseCommitted(): boolean {
    const { highWatermark } = this.#options.log
    let count = 0
    while (count < this.#waiting.length && this.#waiting[count].endOffset <= highWatermark) count++
    if (count === 0) return false
    for (const { replies, effects } of this.#waiting.splice(0, count)) this.#release(replies, effects)
    return true
  }

  #release(replies: Waiting<Reply, Effect>['replies'], effects: readonly Effect[]): void {
    for (const { requestId, reply } of replies) this.#answerOpen(requestId, reply)
    for (const effect of effects) this.#outbox.push({ type: 'effect', effect })
  }

  #failOpen(requestId: RequestId, errorCode: ErrorCode): void {
    const { command } = this.#open.get(requestId)!
    this.#answerOpen(requestId, this.#options.failureReply(command, errorCode))
  }

  #answerOpen(requestId: RequestId, reply: Reply): void {
    const open = this.#open.get(requestId)
    // It has waited too long and was answered; the records are committed all the same.
    if (open === undefined) return
    this.#open.delete(requestId)
    if (open.deadline !== undefined) {
      this.#answerDeadlines.clear(open.deadline)
      this.#waitingAnswers--
    }
    this.#outbox.push({ type: 'answer', requestId, reply })
  }

  /** Last in every call: what is called here may call the runner again. */
  #deliver(): void {
    if (this.#isDelivering) return
    this.#isDelivering = true
    for (let i = 0; i < this.#outbox.length; i++) this.#carryOut(this.#outbox[i])
    this.#outbox = []
    this.#isDelivering = false
  }

  #carryOut(delivery: Delivery<Reply, Effect>): void {
    if (delivery.type === 'answer') this.#options.answer(delivery.requestId, delivery.reply)
    else if (delivery.type === 'effect') this.#options.carryOut(delivery.effect)
    else this.#options.reload()
  }
}
