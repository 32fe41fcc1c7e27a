import { assert } from '../../base/assert.ts'
import type { ControlRecord } from '../../protocol/control-record.ts'
import { isReplica, type ReplicaKey, sameReplica, VoterSet } from './voters.ts'

interface Entry<T> {
  /** Of the record; -1 for what was there before the log: the configuration, or the snapshot that formatting wrote. */
  readonly offset: number
  readonly value: T
}

/**
 * The voter sets and kraft versions that the log holds, by offset. The newest of each is in force from the moment it is
 * appended, committed or not; a truncation brings the former one back.
 */
export class VoterHistory {
  readonly #configured: VoterSet
  #voters: Entry<VoterSet>[]
  #kraftVersions: Entry<number>[]
  /** Voters of sets that a snapshot covers and that are no longer in force. */
  #former: ReplicaKey[] = []

  /** `voters`: the configured set of a quorum with kraft.version 0, or the empty set. */
  constructor(voters: VoterSet) {
    this.#configured = voters
    this.#voters = [{ offset: -1, value: voters }]
    this.#kraftVersions = [{ offset: -1, value: 0 }]
  }

  get voters(): VoterSet {
    return this.#voters.at(-1)!.value
  }

  /** Where the set in force was appended; -1 when it is not in the log. */
  get votersOffset(): number {
    return this.#voters.at(-1)!.offset
  }

  /** The set in force before the last change, unless that is long ago (below a snapshot). */
  get previousVoters(): VoterSet | undefined {
    return this.#voters.at(-2)?.value
  }

  get kraftVersion(): number {
    return this.#kraftVersions.at(-1)!.value
  }

  /** The records that make what was in force below `endOffset`: what a snapshot of that says of the quorum. None at version 0. */
  recordsAt(endOffset: number): ControlRecord[] {
    const kraftVersion = lastBelow(this.#kraftVersions, endOffset)
    if (kraftVersion < 1) return []
    return [
      { type: 'kraftVersion', value: { version: 0, kraftVersion } },
      { type: 'kraftVoters', value: lastBelow(this.#voters, endOffset).toRecord() },
    ]
  }

  /** Whether this very replica is or was a voter, as far back as the log goes or this process has seen. */
  hasListed(key: ReplicaKey): boolean {
    const listed = this.#voters.flatMap(({ value }) => value.voters)
    return [...listed, ...this.#former].some(voter => isReplica(voter, key))
  }

  append(offset: number, record: ControlRecord): void {
    if (record.type === 'kraftVoters') push(this.#voters, offset, VoterSet.fromRecord(record.value))
    if (record.type === 'kraftVersion') push(this.#kraftVersions, offset, record.value.kraftVersion)
  }

  /** The log now ends at `endOffset`. */
  truncateTo(endOffset: number): void {
    this.#voters = this.#voters.filter(entry => entry.offset < endOffset)
    this.#kraftVersions = this.#kraftVersions.filter(entry => entry.offset < endOffset)
    assert(this.#voters.length > 0, 'a truncation leaves a voter set')
  }

  /** A snapshot covers everything below `endOffset`: of that only the last of each kind is needed. */
  trimBelow(endOffset: number): void {
    const kept = fromLastBelow(this.#voters, endOffset)
    this.#remember(this.#voters.slice(0, this.#voters.length - kept.length))
    this.#voters = kept
    this.#kraftVersions = fromLastBelow(this.#kraftVersions, endOffset)
  }

  /** The log was replaced by the snapshot that ends at `endOffset` and holds these control records. */
  loadSnapshot(endOffset: number, records: readonly ControlRecord[]): void {
    this.#remember(this.#voters.filter(({ offset }) => offset < endOffset))
    this.#voters = [{ offset: -1, value: this.#configured }]
    this.#kraftVersions = [{ offset: -1, value: 0 }]
    for (const record of records) this.append(endOffset - 1, record)
  }

  #remember(entries: readonly Entry<VoterSet>[]): void {
    for (const { value } of entries) {
      for (const voter of value.voters) {
        if (!this.#former.some(key => sameReplica(key, voter))) {
          this.#former.push({ id: voter.id, directoryId: voter.directoryId })
        }
      }
    }
  }
}

function push<T>(entries: Entry<T>[], offset: number, value: T): void {
  const last = entries.at(-1)!
  assert(offset > last.offset || offset === -1, 'control records are appended in order')
  if (offset === last.offset) entries.pop()
  entries.push({ offset, value })
}

function lastBelow<T>(entries: readonly Entry<T>[], endOffset: number): T {
  const entry = entries.findLast(({ offset }) => offset < endOffset)
  assert(entry !== undefined, 'what lies below a snapshot is known')
  return entry.value
}

function fromLastBelow<T>(entries: Entry<T>[], endOffset: number): Entry<T>[] {
  const keep = Math.max(
    0,
    entries.findLastIndex(entry => entry.offset < endOffset),
  )
  return entries.slice(keep)
}
