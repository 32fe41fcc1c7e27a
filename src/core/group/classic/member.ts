import type { RequestId } from '../../state-machine/state-machine.ts'

/** A request that waits for something to happen to its group. */
export interface WaitingRequest {
  readonly requestId: RequestId
  /** The version that its answer will be written in. */
  readonly apiVersion: number
}

/** A protocol (an assignor) that a member supports, and what it tells the leader under it. */
export interface MemberProtocol {
  readonly name: string
  readonly metadata: Buffer
}

/** A member of a classic group. Never changed: a changed member is another object. */
export interface Member {
  readonly memberId: string
  readonly groupInstanceId: string | undefined
  readonly clientId: string
  readonly clientHost: string
  readonly rebalanceTimeoutMs: number
  readonly sessionTimeoutMs: number
  /** In the member's order of preference, each name once. */
  readonly protocols: readonly MemberProtocol[]
  /** Empty while there is none. */
  readonly assignment: Buffer
  /** It has not yet been answered its first JoinGroup, so it does not know its id and cannot send heartbeats. */
  readonly isNew: boolean
  readonly awaitingJoin: WaitingRequest | undefined
  readonly awaitingSync: WaitingRequest | undefined
}

export const noAssignment: Buffer = Buffer.alloc(0)

/** Undefined when the member does not support the protocol. */
export function metadataFor(member: Member, protocolName: string | undefined): Buffer | undefined {
  return member.protocols.find(protocol => protocol.name === protocolName)?.metadata
}

/** The same protocols with the same metadata in the same order. */
export function sameProtocols(a: readonly MemberProtocol[], b: readonly MemberProtocol[]): boolean {
  return (
    a.length === b.length &&
    a.every((protocol, i) => protocol.name === b[i].name && protocol.metadata.equals(b[i].metadata))
  )
}
