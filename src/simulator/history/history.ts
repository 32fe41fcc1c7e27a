import { assert } from '../../base/assert.ts'
import type { AnswerOf, MarkName, Marks, OperationName, RequestOf } from './operations.ts'

export type Outcome =
  /** It happened. */
  | 'ok'
  /** It did not happen, and never will. */
  | 'fail'
  /** Nobody knows: it may have happened, or may happen yet, as a whole. */
  | 'info'

/** One call of one process, from its start to its end. */
export interface Call<F extends OperationName = OperationName> {
  readonly id: number
  readonly process: string
  readonly f: F
  readonly request: RequestOf<F>
  /** The place in the one order of all events. */
  readonly invokedAt: number
  readonly invokedMs: number
  /** undefined while it runs. */
  readonly outcome: Outcome | undefined
  /** Infinity while it runs. */
  readonly endedAt: number
  readonly endedMs: number
  readonly answer: AnswerOf<F> | undefined
  /** Why it is not ok. */
  readonly error: string | undefined
}

export interface Mark<M extends MarkName = MarkName> {
  readonly name: M
  readonly at: number
  readonly ms: number
  readonly value: Marks[M]
}

type Open<F extends OperationName> = { -readonly [K in keyof Call<F>]: Call<F>[K] }

/**
 * All that clients did and saw, in one order: calls that were invoked and ended ok, fail or info, and marks of what was done
 * to the cluster. The same format holds what simulated and what real clients did.
 */
export class History {
  readonly #nowMs: () => number
  readonly #calls: Open<OperationName>[] = []
  readonly #marks: Mark[] = []
  readonly #running = new Map<string, Set<Open<OperationName>>>()
  #events = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  get calls(): readonly Call[] {
    return this.#calls
  }

  /** Events so far: the `at` of the next one. */
  get length(): number {
    return this.#events
  }

  callsOf<F extends OperationName>(f: F): readonly Call<F>[] {
    return this.#calls.filter(call => call.f === f) as unknown as readonly Call<F>[]
  }

  marksOf<M extends MarkName>(name: M): readonly Mark<M>[] {
    return this.#marks.filter(mark => mark.name === name) as unknown as readonly Mark<M>[]
  }

  begin<F extends OperationName>(process: string, f: F, request: RequestOf<F>): Call<F> {
    const call: Open<F> = {
      id: this.#calls.length,
      process,
      f,
      request,
      invokedAt: this.#events++,
      invokedMs: this.#nowMs(),
      outcome: undefined,
      endedAt: Number.POSITIVE_INFINITY,
      endedMs: Number.POSITIVE_INFINITY,
      answer: undefined,
      error: undefined,
    }
    this.#calls.push(call as unknown as Open<OperationName>)
    const running = this.#running.get(process) ?? new Set()
    this.#running.set(process, running)
    running.add(call as unknown as Open<OperationName>)
    return call
  }

  ok<F extends OperationName>(call: Call<F>, answer: AnswerOf<F>): void {
    this.#end(call, 'ok', answer, undefined)
  }

  fail(call: Call, error: string): void {
    this.#end(call, 'fail', undefined, error)
  }

  info(call: Call, error: string): void {
    this.#end(call, 'info', undefined, error)
  }

  /** The process is gone: nobody will hear how its calls ended. */
  crashed(process: string): void {
    for (const call of [...(this.#running.get(process) ?? [])]) this.#end(call, 'info', undefined, 'the client crashed')
  }

  /** Calls that have not ended. */
  running(): Call[] {
    return [...this.#running.values()].flatMap(calls => [...calls])
  }

  mark<M extends MarkName>(name: M, value: Marks[M]): void {
    this.#marks.push({ name, at: this.#events++, ms: this.#nowMs(), value })
  }

  #end(call: Call, outcome: Outcome, answer: Call['answer'], error: string | undefined): void {
    const open = call as Open<OperationName>
    assert(open.outcome === undefined, 'a call ends once')
    open.outcome = outcome
    open.answer = answer
    open.error = error
    open.endedAt = this.#events++
    open.endedMs = this.#nowMs()
    this.#running.get(call.process)?.delete(open)
  }

  /** One JSON object a line, in the order of events. */
  *lines(): Generator<string> {
    const events: { at: number; text: string }[] = []
    for (const { id, process, f, request, invokedAt, invokedMs, outcome, endedAt, endedMs, answer, error } of this
      .#calls) {
      const place = { process, call: id, f }
      events.push({ at: invokedAt, text: line({ ms: invokedMs, type: 'invoke', ...place, value: request }) })
      if (outcome === undefined) continue
      events.push({ at: endedAt, text: line({ ms: endedMs, type: outcome, ...place, value: answer, error }) })
    }
    for (const { at, ms, name, value } of this.#marks)
      events.push({ at, text: line({ ms, type: 'mark', f: name, value }) })
    events.sort((a, b) => a.at - b.at)
    for (const { text } of events) yield text
  }

  /** Reads what `lines` wrote. */
  static parse(lines: Iterable<string>): History {
    let nowMs = 0
    const history = new History(() => nowMs)
    const calls = new Map<number, Call>()
    for (const text of lines) {
      const event = JSON.parse(text, (_, value) => (value === null ? undefined : value))
      nowMs = event.ms
      const call = calls.get(event.call)
      if (event.type === 'mark') history.mark(event.f, event.value)
      else if (event.type === 'invoke') calls.set(event.call, history.begin(event.process, event.f, event.value))
      else if (call !== undefined) history.#end(call, event.type, event.value, event.error)
    }
    return history
  }
}

function line(event: object): string {
  return JSON.stringify(event)
}
