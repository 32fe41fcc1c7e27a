import type { Uuid } from '../../base/uuid.ts'
import type { History } from '../history/history.ts'
import type { Target } from '../history/operations.ts'

/** One topic: a name from its creation to its deletion. Both are known up to the time that the calls took. */
export interface Incarnation {
  readonly topic: string
  readonly topicId: Uuid
  /** It cannot have been there before, nor after. */
  readonly from: number
  readonly to: number
  /** When it was certainly there. */
  readonly surelyFrom: number
  readonly surelyTo: number
}

/** Which topics there were, by what the clients that made and deleted them know. */
export class Incarnations {
  readonly #byId = new Map<Uuid, Incarnation>()

  constructor(history: History) {
    const deletions = history.callsOf('deleteTopic')
    for (const { request, answer, invokedAt, endedAt } of history.callsOf('createTopic')) {
      if (answer === undefined) continue
      const { topicId } = answer
      const ends = deletions.filter(call => call.request.topicId === topicId && call.outcome !== 'fail')
      const done = ends.filter(call => call.outcome === 'ok').map(call => call.endedAt)
      this.#byId.set(topicId, {
        topic: request.topic,
        topicId,
        from: invokedAt,
        to: Math.min(...done, Number.POSITIVE_INFINITY),
        surelyFrom: endedAt,
        surelyTo: Math.min(...ends.map(call => call.invokedAt), Number.POSITIVE_INFINITY),
      })
    }
  }

  byId(topicId: Uuid): Incarnation | undefined {
    return this.#byId.get(topicId)
  }

  /** Whether the topic may have been deleted, or may be. */
  isMortal(topicId: Uuid): boolean {
    return (this.#byId.get(topicId)?.surelyTo ?? 0) !== Number.POSITIVE_INFINITY
  }

  /** The topic that a call reached: by its id, or the only one that can have had the name meanwhile; undefined: unclear. */
  reached(target: Target, call: { readonly invokedAt: number; readonly endedAt: number }): Uuid | undefined {
    if (target.topicId !== undefined) return target.topicId
    const possible = [...this.#byId.values()].filter(
      one => one.topic === target.topic && one.from <= call.endedAt && one.to >= call.invokedAt,
    )
    return possible.length === 1 ? possible[0]!.topicId : undefined
  }
}
