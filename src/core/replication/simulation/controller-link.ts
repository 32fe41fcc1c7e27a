import type { SimController } from './cluster-controller.ts'
import type { World } from './world.ts'

/** A request without an answer is given up after this time. */
const timeoutMs = 1500

/**
 * What one life of a broker asks of the controller, over one connection at a time: requests arrive in order and at most once,
 * and one that was given up does not arrive later, since its connection was closed.
 */
export class ControllerLink {
  readonly #world: World
  readonly #brokerId: number
  /** Requests do not overtake one another. */
  #arrivesMs = 0

  constructor(world: World, brokerId: number) {
    this.#world = world
    this.#brokerId = brokerId
  }

  /** `answered(undefined)`: no answer, or none of use (NOT_CONTROLLER, a stale broker epoch). */
  ask<T>(request: (controller: SimController) => T | undefined, answered: (answer: T | undefined) => void): void {
    const { world } = this
    let isOver = false
    const finish = (answer: T | undefined) => {
      if (isOver) return
      isOver = true
      answered(answer)
    }
    world.schedule(timeoutMs, () => finish(undefined))
    if (world.isLost(`${this.#brokerId}>0`)) return
    this.#arrivesMs = Math.max(this.#arrivesMs, world.nowMs + world.delay())
    world.schedule(this.#arrivesMs - world.nowMs, () => {
      if (isOver || world.isControllerDown) return
      // A controller that was deposed decides nothing.
      const answer = world.random.chance(world.notControllerProbability) ? undefined : world.decide(request)
      if (world.isLost(`0>${this.#brokerId}`) || world.random.chance(world.lostAnswerProbability)) return
      world.schedule(world.delay(), () => finish(answer))
    })
  }

  get world(): World {
    return this.#world
  }
}
