import { assert } from '../../base/assert.ts'
import { type Uuid, zeroUuid } from '../../base/uuid.ts'
import type { Endpoint, VotersRecord } from '../../protocol/records/control.ts'
import type { VersionRange } from './messages.ts'

/**
 * Who a replica is: its node id and the id of its metadata directory. A node that comes back with an empty disk has
 * another directory id and so is another replica. The zero directory id means unknown and matches any.
 */
export interface ReplicaKey {
  readonly id: number
  readonly directoryId: Uuid
}

export interface Voter extends ReplicaKey {
  readonly endpoints: readonly Endpoint[]
  readonly kraftVersionFeature: VersionRange
}

/** Whether `key` is the replica that `expected` names; an expected key without directory id is any of that node. */
export function isReplica(expected: ReplicaKey, key: ReplicaKey): boolean {
  return expected.id === key.id && (expected.directoryId === zeroUuid || expected.directoryId === key.directoryId)
}

export function sameReplica(a: ReplicaKey, b: ReplicaKey): boolean {
  return a.id === b.id && a.directoryId === b.directoryId
}

/** The voters of the quorum, in order of id; never changed, each change makes a new one. */
export class VoterSet {
  readonly voters: readonly Voter[]

  constructor(voters: readonly Voter[]) {
    this.voters = [...voters].sort((a, b) => a.id - b.id)
    for (let i = 1; i < this.voters.length; i++) {
      assert(this.voters[i - 1].id !== this.voters[i].id, 'each id is in a voter set once')
    }
  }

  get size(): number {
    return this.voters.length
  }

  /** How many voters are a majority. */
  get majority(): number {
    return Math.floor(this.voters.length / 2) + 1
  }

  withId(id: number): Voter | undefined {
    return this.voters.find(voter => voter.id === id)
  }

  has(key: ReplicaKey): boolean {
    return this.voters.some(voter => isReplica(voter, key))
  }

  isOnly(key: ReplicaKey): boolean {
    return this.voters.length === 1 && this.has(key)
  }

  /** The set with one voter more, or undefined when its id is taken. */
  with(voter: Voter): VoterSet | undefined {
    return this.withId(voter.id) === undefined ? new VoterSet([...this.voters, voter]) : undefined
  }

  /** The set without this very voter, or undefined when it is not in it. */
  without(key: ReplicaKey): VoterSet | undefined {
    const rest = this.voters.filter(voter => !sameReplica(voter, key))
    return rest.length === this.voters.length ? undefined : new VoterSet(rest)
  }

  /** The set with this voter's endpoints and version range renewed, or undefined when the voter is not in it. */
  updated(voter: Voter): VoterSet | undefined {
    if (!this.has(voter)) return undefined
    return new VoterSet(this.voters.map(old => (old.id === voter.id ? voter : old)))
  }

  toRecord(): VotersRecord {
    return {
      version: 0,
      voters: this.voters.map(voter => ({
        voterId: voter.id,
        voterDirectoryId: voter.directoryId,
        endpoints: voter.endpoints,
        kraftVersionFeature: voter.kraftVersionFeature,
      })),
    }
  }

  static fromRecord(record: VotersRecord): VoterSet {
    return new VoterSet(
      record.voters.map(voter => ({
        id: voter.voterId,
        directoryId: voter.voterDirectoryId,
        endpoints: voter.endpoints,
        kraftVersionFeature: voter.kraftVersionFeature,
      })),
    )
  }
}

/** Whether two sets share a majority: at most one voter more or less, everyone else the same replica. */
export function differByOneVoter(a: VoterSet, b: VoterSet): boolean {
  const gone = a.voters.filter(voter => !b.has(voter)).length
  const come = b.voters.filter(voter => !a.has(voter)).length
  return gone + come <= 1
}

/** Whether a voter's entry differs from what the node itself says. */
export function needsUpdate(entry: Voter, own: Voter): boolean {
  return (
    entry.directoryId !== own.directoryId ||
    entry.kraftVersionFeature.minSupportedVersion !== own.kraftVersionFeature.minSupportedVersion ||
    entry.kraftVersionFeature.maxSupportedVersion !== own.kraftVersionFeature.maxSupportedVersion ||
    !sameEndpoints(entry.endpoints, own.endpoints)
  )
}

function sameEndpoints(a: readonly Endpoint[], b: readonly Endpoint[]): boolean {
  return (
    a.length === b.length &&
    a.every(one => b.some(other => other.name === one.name && other.host === one.host && other.port === one.port))
  )
}
