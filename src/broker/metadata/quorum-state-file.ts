import { zeroUuid } from '../../base/uuid.ts'
import type { QuorumState } from '../../core/raft/events.ts'
import { type Disk, replaceFile } from '../../io/disk.ts'

const maxBytes = 64 * 1024

export interface StaticVoters {
  readonly clusterId: string
  readonly voterIds: readonly number[]
}

/** What a `quorum-state` file said, or why it cannot be trusted. */
export type QuorumStateRead =
  | { readonly type: 'absent' }
  | { readonly type: 'read'; readonly state: QuorumState }
  | { readonly type: 'damaged'; readonly reason: string }

/**
 * Epoch and vote of this node, in Kafka's file: one line of JSON. Version 1 belongs to kraft.version 1; version 0 also has
 * the voters of the configuration.
 */
export class QuorumStateFile {
  readonly #disk: Disk
  readonly #path: string
  readonly #static: StaticVoters

  constructor(disk: Disk, directory: string, staticVoters: StaticVoters) {
    this.#disk = disk
    this.#path = `${directory}/quorum-state`
    this.#static = staticVoters
  }

  read(): QuorumStateRead {
    const bytes = this.#disk.readSmallFile(this.#path, maxBytes)
    if (bytes === undefined) return { type: 'absent' }
    const damaged = (reason: string): QuorumStateRead => ({ type: 'damaged', reason: `${this.#path}: ${reason}` })
    let json: Record<string, unknown>
    try {
      json = JSON.parse(bytes.toString('utf8'))
    } catch {
      return damaged('it is no JSON')
    }
    const version = json.data_version
    if (version !== 0 && version !== 1) return damaged(`data_version ${String(version)} is not known`)
    const { leaderId, leaderEpoch, votedId, votedDirectoryId = zeroUuid } = json
    if (!isInt(leaderId) || !isInt(leaderEpoch) || !isInt(votedId) || typeof votedDirectoryId !== 'string') {
      return damaged('a number is missing')
    }
    return { type: 'read', state: { leaderId, leaderEpoch, votedId, votedDirectoryId } }
  }

  /** On disk, synced, when it resolves. */
  async write(state: QuorumState, kraftVersion: number): Promise<void> {
    const { leaderId, leaderEpoch, votedId, votedDirectoryId } = state
    const json =
      kraftVersion >= 1
        ? { leaderId, leaderEpoch, votedId, votedDirectoryId, data_version: 1 }
        : {
            clusterId: this.#static.clusterId,
            leaderId,
            leaderEpoch,
            votedId,
            appliedOffset: 0,
            currentVoters: this.#static.voterIds.map(voterId => ({ voterId })),
            data_version: 0,
          }
    await replaceFile(this.#disk, this.#path, Buffer.from(JSON.stringify(json)))
  }
}

function isInt(value: unknown): value is number {
  return Number.isInteger(value)
}
