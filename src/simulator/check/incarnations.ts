import type { Uuid } from '../../base/uuid.ts'
import type { Call, History } from '../history/history.ts'
import type { Target } from '../history/operations.ts'

/** One topic: a name from its creation to its deletion. It cannot have been there before `from` nor after `to`. */
interface Incarnation {
  readonly topic: string
  /** undefined: made by a call whose answer got lost, perhaps. */
  readonly topicId: Uuid | undefined
  readonly from: number
  readonly to: number
}

/** Which topics there were, by what the clients that made, saw and deleted them know. */
export class Incarnations {
  readonly #all: Incarnation[] = []
  readonly #byId = new Map<Uuid, Incarnation>()
  readonly #deletions: readonly Call<'deleteTopic'>[]

  constructor(history: History) {
    const creations = history.callsOf('createTopic')
    const deletions = history.callsOf('deleteTopic')
    this.#deletions = deletions
    for (const creation of creations) {
      const topicId = creation.answer?.topicId
      if (topicId !== undefined) this.#add(creation.request.topic, topicId, [creation], deletions)
    }
    // A creation whose answer got lost may have made a topic that others have seen, or that nobody ever saw.
    const unsure = creations.filter(({ outcome }) => outcome === 'info' || outcome === undefined)
    for (const { value, at } of history.marksOf('seenTopic')) {
      const makers = unsure.filter(call => call.request.topic === value.topic && call.invokedAt < at)
      if (!this.#byId.has(value.topicId)) this.#add(value.topic, value.topicId, makers, deletions)
    }
    for (const { request, invokedAt } of unsure)
      this.#all.push({
        topic: request.topic,
        topicId: undefined,
        from: invokedAt,
        to: endOfUnseen(request.topic, invokedAt, creations),
      })
  }

  #add(
    topic: string,
    topicId: Uuid,
    creations: readonly Call<'createTopic'>[],
    deletions: readonly Call<'deleteTopic'>[],
  ): void {
    const ends = deletions.filter(call => call.request.topicId === topicId && call.outcome !== 'fail')
    const done = ends.filter(call => call.outcome === 'ok').map(call => call.endedAt)
    const incarnation = {
      topic,
      topicId,
      from: Math.min(...creations.map(call => call.invokedAt), Number.POSITIVE_INFINITY),
      to: Math.min(...done, Number.POSITIVE_INFINITY),
    }
    this.#all.push(incarnation)
    this.#byId.set(topicId, incarnation)
  }

  /** Whether somebody had begun to delete the topic by then, and was not refused. */
  mayBeDeleted(topicId: Uuid, at: number): boolean {
    return this.#deletions.some(
      call => call.request.topicId === topicId && call.outcome !== 'fail' && call.invokedAt <= at,
    )
  }

  /** The topic that a call reached: by its id, or the only one that can have had the name meanwhile; undefined: unclear. */
  reached(target: Target, call: { readonly invokedAt: number; readonly endedAt: number }): Uuid | undefined {
    if (target.topicId !== undefined) return target.topicId
    const possible = this.#all.filter(
      one => one.topic === target.topic && one.from <= call.endedAt && one.to >= call.invokedAt,
    )
    return possible.length === 1 ? possible[0]!.topicId : undefined
  }
}

/** A topic that nobody saw was gone at the latest when another of its name could be made. */
function endOfUnseen(topic: string, from: number, creations: readonly Call<'createTopic'>[]): number {
  const next = creations.find(call => call.request.topic === topic && call.outcome === 'ok' && call.invokedAt > from)
  return next?.endedAt ?? Number.POSITIVE_INFINITY
}
