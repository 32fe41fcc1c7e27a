import { assert } from '../../base/assert.ts'
import { isMessage, type QuorumEffect, type QuorumState } from './events.ts'

/**
 * Collects the effects of a turn. Messages wait here until the quorum state they rest on is on disk: no vote is
 * answered, no vote asked for and nothing fetched in an epoch that a crash could make this node forget.
 */
export class Outbox {
  #effects: QuorumEffect[] = []
  /** Messages with the version of the quorum state that must be on disk before they leave. In order. */
  #held: { readonly version: number; readonly effect: QuorumEffect }[] = []
  /** Versions of the quorum state: in force, being written (0: none), on disk. */
  #version = 0
  #writing = 0
  #persisted = 0
  #isHalted = false
  #newest: { readonly quorumState: QuorumState; readonly kraftVersion: number } | undefined

  /** Whether the quorum state in force is on disk. */
  get isPersisted(): boolean {
    return this.#persisted === this.#version
  }

  get heldMessages(): number {
    return this.#held.length
  }

  push(effect: QuorumEffect): void {
    if (this.#isHalted) return
    if (isMessage(effect) && !this.isPersisted) this.#held.push({ version: this.#version, effect })
    else this.#effects.push(effect)
  }

  /** The quorum state changed. Writes follow one another; a state that was replaced meanwhile is never written. */
  persist(quorumState: QuorumState, kraftVersion: number): void {
    this.#version++
    this.#newest = { quorumState, kraftVersion }
  }

  /** The write completed: what rested on it, or on an older state, may leave. */
  persisted(): void {
    assert(this.#writing > 0, 'a write of the quorum state is open')
    this.#persisted = this.#writing
    this.#writing = 0
    let released = 0
    while (released < this.#held.length && this.#held[released].version <= this.#persisted) released++
    for (const { effect } of this.#held.splice(0, released)) this.#effects.push(effect)
  }

  /** The effects of this turn, in order; the newest quorum state first, if it has to be written and can be. */
  take(): QuorumEffect[] {
    const effects = this.#effects
    this.#effects = []
    if (this.isPersisted || this.#writing !== 0 || this.#isHalted) return effects
    assert(this.#newest !== undefined, 'there is a quorum state to write')
    this.#writing = this.#version
    return [{ type: 'persistQuorumState', ...this.#newest }, ...effects]
  }

  /** The node halts: nothing leaves but the reason. */
  halt(reason: string): void {
    if (this.#isHalted) return
    this.#isHalted = true
    this.#effects = [{ type: 'halt', reason }]
    this.#held = []
  }
}
