import { assert } from '../../base/assert.ts'
import { isReplica, type ReplicaKey, type Voter, type VoterSet } from './voters.ts'

/** The answers to one round of votes, counted against the voter set it was held with. */
export class Tally {
  readonly voters: VoterSet
  readonly #answers = new Map<number, boolean>()

  /** A nominee grants itself its own vote, if it has one. */
  constructor(voters: VoterSet, nominee: ReplicaKey) {
    this.voters = voters
    if (voters.has(nominee)) this.#answers.set(nominee.id, true)
  }

  record(voterId: number, isGranted: boolean): void {
    // Not a voter, or one that answered before: one voter, one answer.
    if (this.voters.withId(voterId) === undefined || this.#answers.has(voterId)) return
    this.#answers.set(voterId, isGranted)
  }

  get isGranted(): boolean {
    return this.#count(true) >= this.voters.majority
  }

  /** No majority is possible any more. */
  get isRejected(): boolean {
    return this.voters.size - this.#count(false) < this.voters.majority
  }

  get grantingVoters(): Voter[] {
    return this.voters.voters.filter(voter => this.#answers.get(voter.id) === true)
  }

  /** The voters that have not answered. */
  unanswered(self: ReplicaKey): Voter[] {
    const open = this.voters.voters.filter(voter => !this.#answers.has(voter.id))
    assert(!open.some(voter => isReplica(voter, self)), 'a nominee does not ask itself')
    return open
  }

  inspect(): string {
    return this.voters.voters.map(({ id }) => `${id}:${answerText(this.#answers.get(id))}`).join(' ')
  }

  #count(isGranted: boolean): number {
    let count = 0
    for (const answer of this.#answers.values()) if (answer === isGranted) count++
    return count
  }
}

function answerText(answer: boolean | undefined): string {
  if (answer === undefined) return '-'
  return answer ? 'yes' : 'no'
}
