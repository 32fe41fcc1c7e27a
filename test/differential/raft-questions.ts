import { zeroUuid } from '../../src/base/uuid.ts'
import type { RaftApi, RaftRequest } from '../../src/core/raft/messages.ts'
import {
  addVoter,
  beginFrom,
  endFrom,
  fetchFrom,
  fetchSnapshotFrom,
  removeVoter,
  updateVoter,
  voteFrom,
} from '../../src/core/raft/simulation/peer-requests.ts'
import { directoryOf } from '../../src/core/raft/simulation/scene.ts'
import { addRaftVoterRequest, addRaftVoterResponse } from '../../src/protocol/messages/add-raft-voter.ts'
import { beginQuorumEpochRequest, beginQuorumEpochResponse } from '../../src/protocol/messages/begin-quorum-epoch.ts'
import { endQuorumEpochRequest, endQuorumEpochResponse } from '../../src/protocol/messages/end-quorum-epoch.ts'
import { fetchRequest, fetchResponse } from '../../src/protocol/messages/fetch.ts'
import { fetchSnapshotRequest, fetchSnapshotResponse } from '../../src/protocol/messages/fetch-snapshot.ts'
import { removeRaftVoterRequest, removeRaftVoterResponse } from '../../src/protocol/messages/remove-raft-voter.ts'
import { updateRaftVoterRequest, updateRaftVoterResponse } from '../../src/protocol/messages/update-raft-voter.ts'
import { voteRequest, voteResponse } from '../../src/protocol/messages/vote.ts'
import type { Call } from '../end-to-end/raw-client.ts'

/** Of the leader that is asked. */
export interface Standing {
  readonly epoch: number
  readonly endOffset: number
  /** Where its epoch began. */
  readonly epochStart: number
  readonly clusterId: string
  readonly directoryId: string
}

type Make = (at: Standing) => RaftRequest

const otherCluster = 'AAAAAAAAAAAAAAAAAAAAAg'
/** A stranger to the quorum. */
const from = 7

type Body = Record<string, unknown> & { topics?: { partitions: Record<string, unknown>[] }[] }

/** With the cluster of the leader, and these fields of the request, its topic and its partition changed. */
function changed(make: Make, over: { request?: object; topic?: object; partition?: object } = {}): Make {
  return at => {
    const { api, request } = make(at) as { api: RaftApi; request: Body }
    const topics = request.topics?.map(topic => ({
      ...topic,
      // In the versions that are asked a fetch has the id of the topic only.
      ...(api === 'fetch' ? { topic: '' } : {}),
      ...over.topic,
      partitions: topic.partitions.map(partition => ({ ...partition, ...over.partition })),
    }))
    const body = { ...request, clusterId: at.clusterId, ...(topics === undefined ? {} : { topics }), ...over.request }
    return { api, request: body } as unknown as RaftRequest
  }
}

const vote = (epoch = 0, last = -1, preVote = false): Make => {
  return at => voteFrom(from, { epoch: at.epoch + epoch, log: [at.endOffset + 50, at.epoch + epoch + last], preVote })
}
const begin =
  (epoch: number): Make =>
  at =>
    beginFrom(from, at.epoch + epoch)
const end =
  (epoch: number): Make =>
  at =>
    endFrom(from, at.epoch + epoch, [1])
const fetch = (epoch = 0, last = 0): Make => {
  return at => fetchFrom(from, { epoch: at.epoch + epoch, log: [at.endOffset, at.epoch + last], maxWaitMs: 0 })
}
const fetchAt = (offset: number, last: number): Make => {
  return at => fetchFrom(from, { epoch: at.epoch, log: [offset, last], maxWaitMs: 0 })
}
const snapshot = (epoch = 0): Make => {
  return at => fetchSnapshotFrom(from, { epoch: at.epoch + epoch, snapshot: [3, 1], position: 0 })
}
const add: Make = () => addVoter(from)
const remove: Make = () => removeVoter(from)
const update =
  (id: number, epoch = 0): Make =>
  at =>
    updateVoter(id, at.epoch + epoch)
const updateOwn: Make = at => updateVoter(1, at.epoch, { directoryId: at.directoryId })
const anonymous = { voterId: -1, voterDirectoryId: directoryOf(3) }

/** By what is asked. Nothing in them changes anything. */
export const raftQuestions: Readonly<Record<string, Make>> = {
  'Vote: the same epoch': changed(vote()),
  'Vote: no cluster': changed(vote(), { request: { clusterId: null } }),
  'Vote: another cluster': changed(vote(), { request: { clusterId: otherCluster } }),
  'Vote: another topic': changed(vote(), { topic: { topicName: 'x' } }),
  'Vote: another partition': changed(vote(), { partition: { partitionIndex: 1 } }),
  'Vote: the last epoch is that of the vote': changed(vote(0, 0)),
  'Vote: a negative offset': changed(vote(), { partition: { lastOffset: -1 } }),
  'Vote: a negative last epoch': changed(vote(), { partition: { lastOffsetEpoch: -1 } }),
  'Vote: an older epoch': changed(vote(-1), { partition: { lastOffsetEpoch: 0 } }),
  'Vote: a negative id': changed(vote(), { partition: { replicaId: -1 } }),
  'Vote: for another node': changed(vote(), { request: { voterId: 9 } }),
  'Vote: for another directory': changed(vote(), {
    request: { voterId: 1 },
    partition: { voterDirectoryId: directoryOf(9) },
  }),
  'Pre-vote: the same epoch': changed(vote(0, 0, true)),
  'Pre-vote: the last epoch is above': changed(vote(0, 1, true)),
  'BeginQuorumEpoch: an older epoch': changed(begin(-1)),
  'BeginQuorumEpoch: a negative id': changed(begin(0), { partition: { leaderId: -1 } }),
  'BeginQuorumEpoch: another cluster': changed(begin(0), { request: { clusterId: otherCluster } }),
  'BeginQuorumEpoch: another topic': changed(begin(0), { topic: { topicName: 'x' } }),
  'EndQuorumEpoch: an older epoch': changed(end(-1)),
  'EndQuorumEpoch: a negative id': changed(end(0), { partition: { leaderId: -1 } }),
  'EndQuorumEpoch: another cluster': changed(end(0), { request: { clusterId: otherCluster } }),
  'Fetch: at the end': changed(fetch()),
  'Fetch: beyond the end': changed(at => fetchFrom(from, { epoch: at.epoch, log: [1e6, at.epoch], maxWaitMs: 0 })),
  'Fetch: a later epoch': changed(fetch(1)),
  'Fetch: an epoch before': changed(fetch(-1, -1)),
  'Fetch: epoch 0': changed(() => fetchFrom(from, { epoch: 0, log: [0, 0], maxWaitMs: 0 })),
  'Fetch: epoch -1': changed(() => fetchFrom(from, { epoch: -1, log: [0, 0], maxWaitMs: 0 })),
  'Fetch: the last epoch is above the current': changed(fetch(0, 1)),
  'Fetch: a negative offset': changed(fetch(), { partition: { fetchOffset: -1 } }),
  'Fetch: a negative last epoch': changed(fetch(), { partition: { lastFetchedEpoch: -1 } }),
  'Fetch: a negative wait': changed(fetch(), { request: { maxWaitMs: -1 } }),
  'Fetch: an older epoch, past its end': changed(fetch(0, -1)),
  'Fetch: from the beginning': changed(fetchAt(0, 0)),
  'Fetch: another cluster': changed(fetch(), { request: { clusterId: otherCluster } }),
  'Fetch: another partition': changed(fetch(), { partition: { partition: 1 } }),
  'Fetch: another topic': changed(fetch(), { topic: { topicId: directoryOf(3) } }),
  'FetchSnapshot: none of that name': changed(snapshot()),
  'FetchSnapshot: an epoch before': changed(snapshot(-1)),
  'FetchSnapshot: a later epoch': changed(snapshot(1)),
  'AddRaftVoter: another cluster': changed(add, { request: { clusterId: otherCluster } }),
  'AddRaftVoter: a negative id': changed(add, { request: anonymous }),
  'AddRaftVoter: no directory': changed(add, { request: { voterDirectoryId: zeroUuid } }),
  'AddRaftVoter: no listener': changed(add, { request: { listeners: [] } }),
  'AddRaftVoter: an id that is taken': changed(add, { request: { voterId: 1 } }),
  'RemoveRaftVoter: not a voter': changed(remove),
  'RemoveRaftVoter: another directory': changed(remove, { request: { voterId: 1 } }),
  'RemoveRaftVoter: no directory': changed(remove, { request: { voterId: 1, voterDirectoryId: zeroUuid } }),
  'RemoveRaftVoter: a negative id': changed(remove, { request: anonymous }),
  'UpdateRaftVoter: not a voter': changed(update(from)),
  'UpdateRaftVoter: another directory': changed(updateOwn, { request: { voterDirectoryId: directoryOf(9) } }),
  'UpdateRaftVoter: an epoch before': changed(update(from, -1)),
  'UpdateRaftVoter: a later epoch': changed(update(from, 1)),
  'UpdateRaftVoter: a negative range': changed(updateOwn, {
    request: { kraftVersionFeature: { minSupportedVersion: 0, maxSupportedVersion: -1 } },
  }),
  'UpdateRaftVoter: a range too low': changed(updateOwn, {
    request: { kraftVersionFeature: { minSupportedVersion: 0, maxSupportedVersion: 0 } },
  }),
  'UpdateRaftVoter: no listener': changed(updateOwn, { request: { listeners: [] } }),
  'UpdateRaftVoter: a negative id': changed(update(from), { request: anonymous }),
}

const calls = {
  vote: { request: voteRequest, response: voteResponse },
  beginQuorumEpoch: { request: beginQuorumEpochRequest, response: beginQuorumEpochResponse },
  endQuorumEpoch: { request: endQuorumEpochRequest, response: endQuorumEpochResponse },
  fetch: { request: fetchRequest, response: fetchResponse },
  fetchSnapshot: { request: fetchSnapshotRequest, response: fetchSnapshotResponse },
  addRaftVoter: { request: addRaftVoterRequest, response: addRaftVoterResponse },
  removeRaftVoter: { request: removeRaftVoterRequest, response: removeRaftVoterResponse },
  updateRaftVoter: { request: updateRaftVoterRequest, response: updateRaftVoterResponse },
}

export function callOf(api: RaftApi): Call {
  if (api === 'apiVersions') throw new Error('ApiVersions is no request of the quorum')
  return calls[api] as unknown as Call
}

/** What the comparison is about, in one line: what does not depend on how long the log is. */
export function summaryOf(
  { api, response }: { api: string; response: unknown },
  { epoch, epochStart }: Standing,
): string {
  // biome-ignore lint/suspicious/noExplicitAny: eight kinds of answers, of which the fields that they share are looked at
  const answer = response as any
  const partition = (answer.topics ?? answer.responses)?.[0]?.partitions?.[0]
  const leader = partition?.currentLeader ?? answer.currentLeader ?? partition
  const diverging = partition?.divergingEpoch
  const said: Record<string, unknown> = { api, top: answer.errorCode, code: partition?.errorCode }
  if (leader !== undefined) said.leader = [leader.leaderId, leader.leaderEpoch - epoch]
  if (api === 'vote') said.granted = partition?.voteGranted
  if (diverging?.epoch >= 0) said.diverging = diverging.endOffset === epochStart ? 'where the epoch began' : 'elsewhere'
  if (api === 'fetch' && partition !== undefined) {
    said.snapshot = partition.snapshotId.endOffset >= 0
    said.hasHighWatermark = partition.highWatermark >= 0
    said.lastStableOffset = partition.lastStableOffset
  }
  if (answer.nodeEndpoints !== undefined) said.endpoints = answer.nodeEndpoints.length
  return JSON.stringify(said)
}
