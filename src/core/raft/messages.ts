import type { AddRaftVoterRequest, AddRaftVoterResponse } from '../../protocol/messages/add-raft-voter.ts'
import type { ApiVersionsResponse } from '../../protocol/messages/api-versions.ts'
import type { BeginQuorumEpochRequest, BeginQuorumEpochResponse } from '../../protocol/messages/begin-quorum-epoch.ts'
import type { EndQuorumEpochRequest, EndQuorumEpochResponse } from '../../protocol/messages/end-quorum-epoch.ts'
import type { FetchRequest, FetchResponse } from '../../protocol/messages/fetch.ts'
import type { FetchSnapshotRequest, FetchSnapshotResponse } from '../../protocol/messages/fetch-snapshot.ts'
import type { RemoveRaftVoterRequest, RemoveRaftVoterResponse } from '../../protocol/messages/remove-raft-voter.ts'
import type { UpdateRaftVoterRequest, UpdateRaftVoterResponse } from '../../protocol/messages/update-raft-voter.ts'
import type { VoteRequest, VoteResponse } from '../../protocol/messages/vote.ts'

/*
 * The messages of the metadata quorum, as decoded and as they can be encoded. `records` of a Fetch answer and
 * `unalignedRecords` are bytes that the quorum passes on and never looks into.
 */

export type RaftRequest =
  | { readonly api: 'vote'; readonly request: VoteRequest }
  | { readonly api: 'beginQuorumEpoch'; readonly request: BeginQuorumEpochRequest }
  | { readonly api: 'endQuorumEpoch'; readonly request: EndQuorumEpochRequest }
  | { readonly api: 'fetch'; readonly request: FetchRequest }
  | { readonly api: 'fetchSnapshot'; readonly request: FetchSnapshotRequest }
  | { readonly api: 'addRaftVoter'; readonly request: AddRaftVoterRequest }
  | { readonly api: 'removeRaftVoter'; readonly request: RemoveRaftVoterRequest }
  | { readonly api: 'updateRaftVoter'; readonly request: UpdateRaftVoterRequest }
  /** Sent only: the quorum never answers ApiVersions. The shell fills it in. */
  | { readonly api: 'apiVersions' }

export type RaftResponse =
  | { readonly api: 'vote'; readonly response: VoteResponse }
  | { readonly api: 'beginQuorumEpoch'; readonly response: BeginQuorumEpochResponse }
  | { readonly api: 'endQuorumEpoch'; readonly response: EndQuorumEpochResponse }
  | { readonly api: 'fetch'; readonly response: FetchResponse }
  | { readonly api: 'fetchSnapshot'; readonly response: FetchSnapshotResponse }
  | { readonly api: 'addRaftVoter'; readonly response: AddRaftVoterResponse }
  | { readonly api: 'removeRaftVoter'; readonly response: RemoveRaftVoterResponse }
  | { readonly api: 'updateRaftVoter'; readonly response: UpdateRaftVoterResponse }
  /** Received only. */
  | { readonly api: 'apiVersions'; readonly response: Pick<ApiVersionsResponse, 'errorCode' | 'supportedFeatures'> }

export type RaftApi = RaftRequest['api']

/** The range of `kraft.version` that a replica supports. */
export interface VersionRange {
  readonly minSupportedVersion: number
  readonly maxSupportedVersion: number
}
