import type { Destination, QuorumEffect } from '../events.ts'
import type { RaftRequest, RaftResponse } from '../messages.ts'

/** One line that says what an effect is about, for transcripts. */
export function effectText(effect: QuorumEffect): string {
  switch (effect.type) {
    case 'persistQuorumState': {
      const { leaderEpoch, leaderId, votedId } = effect.quorumState
      return `persist epoch ${leaderEpoch} leader ${idText(leaderId)} voted ${idText(votedId)}`
    }
    case 'send':
      return `send ${requestText(effect)} to ${destinationText(effect.to)}`
    case 'reply':
      return `reply ${responseText(effect)}`
    case 'append': {
      const { batch } = effect
      const what =
        batch.type === 'control' ? batch.records.map(record => record.type).join('+') : `${batch.recordCount} records`
      return `append ${what} at ${effect.baseOffset} epoch ${effect.leaderEpoch}`
    }
    case 'appendFetched': {
      const last = effect.batches.at(-1)
      return `append fetched [${effect.baseOffset}, ${(last?.lastOffset ?? -1) + 1}) epoch ${last?.leaderEpoch}`
    }
    case 'appendRefused':
      return `refuse append: ${effect.errorCode}`
    case 'kraftVersionUpgraded':
      return `kraft.version upgraded: ${effect.errorCode}`
    case 'truncate':
      return `truncate to ${effect.endOffset}`
    case 'readLog':
      return `read log from ${effect.offset}`
    case 'readSnapshot':
      return `read snapshot ${effect.snapshotId.endOffset}-${effect.snapshotId.epoch} at ${effect.position}`
    case 'writeSnapshot':
      return `write snapshot ${effect.snapshotId.endOffset}-${effect.snapshotId.epoch} at ${effect.position}`
    case 'discardSnapshot':
      return `discard snapshot ${effect.snapshotId.endOffset}-${effect.snapshotId.epoch}`
    case 'loadSnapshot':
      return `load snapshot ${effect.snapshotId.endOffset}-${effect.snapshotId.epoch}`
    case 'highWatermark':
      return `high watermark ${effect.offset}`
    case 'leaderChanged':
      return `leader ${effect.leaderId ?? '-'} of epoch ${effect.leaderEpoch}`
    case 'becameLeader':
      return `became leader of epoch ${effect.leaderEpoch} from ${effect.epochStartOffset}`
    case 'leaderActive':
    case 'lostLeadership':
      return `${effect.type} epoch ${effect.leaderEpoch}`
    case 'halt':
      return `halt: ${effect.reason}`
    default:
      return effect.type
  }
}

export function requestText(request: RaftRequest): string {
  switch (request.api) {
    case 'vote': {
      const { replicaEpoch, lastOffset, lastOffsetEpoch, preVote } = request.request.topics[0].partitions[0]
      return `${preVote ? 'pre-vote' : 'vote'} epoch ${replicaEpoch} log ${lastOffset}/${lastOffsetEpoch}`
    }
    case 'beginQuorumEpoch':
      return `begin epoch ${request.request.topics[0].partitions[0].leaderEpoch}`
    case 'endQuorumEpoch': {
      const { leaderEpoch, preferredSuccessors } = request.request.topics[0].partitions[0]
      return `end epoch ${leaderEpoch} successors [${preferredSuccessors}]`
    }
    case 'fetch': {
      const { currentLeaderEpoch, fetchOffset, lastFetchedEpoch } = request.request.topics[0].partitions[0]
      return `fetch epoch ${currentLeaderEpoch} from ${fetchOffset}/${lastFetchedEpoch}`
    }
    case 'fetchSnapshot': {
      const { snapshotId, position } = request.request.topics[0].partitions[0]
      return `fetch snapshot ${snapshotId.endOffset}-${snapshotId.epoch} at ${position}`
    }
    case 'addRaftVoter':
      return `add voter ${request.request.voterId}`
    case 'removeRaftVoter':
      return `remove voter ${request.request.voterId}`
    case 'updateRaftVoter':
      return `update voter ${request.request.voterId}`
    case 'apiVersions':
      return 'api versions'
  }
}

export function responseText(answer: RaftResponse): string {
  switch (answer.api) {
    case 'vote': {
      const partition = answer.response.topics[0]?.partitions[0]
      if (partition === undefined) return `vote error ${answer.response.errorCode}`
      const verdict =
        partition.errorCode === 0 ? (partition.voteGranted ? 'granted' : 'rejected') : `error ${partition.errorCode}`
      return `vote ${verdict} epoch ${partition.leaderEpoch} leader ${idText(partition.leaderId)}`
    }
    case 'beginQuorumEpoch':
    case 'endQuorumEpoch': {
      const partition = answer.response.topics[0]?.partitions[0]
      const name = answer.api === 'beginQuorumEpoch' ? 'begin' : 'end'
      if (partition === undefined) return `${name} error ${answer.response.errorCode}`
      return `${name} ${partition.errorCode === 0 ? 'ok' : `error ${partition.errorCode}`} epoch ${partition.leaderEpoch}`
    }
    case 'fetch': {
      const partition = answer.response.responses[0]?.partitions[0]
      if (partition === undefined) return `fetch error ${answer.response.errorCode}`
      const leader = `epoch ${partition.currentLeader.leaderEpoch} leader ${idText(partition.currentLeader.leaderId)}`
      if (partition.errorCode !== 0) return `fetch error ${partition.errorCode} ${leader}`
      const { divergingEpoch, snapshotId, highWatermark, records } = partition
      if (divergingEpoch.epoch >= 0)
        return `fetch diverging ${divergingEpoch.endOffset}/${divergingEpoch.epoch} ${leader}`
      if (snapshotId.endOffset >= 0) return `fetch snapshot ${snapshotId.endOffset}-${snapshotId.epoch} ${leader}`
      return `fetch ${records === null || records.length === 0 ? 'empty' : 'records'} high watermark ${highWatermark} ${leader}`
    }
    case 'fetchSnapshot': {
      const partition = answer.response.topics[0]?.partitions[0]
      if (partition === undefined) return `snapshot error ${answer.response.errorCode}`
      if (partition.errorCode !== 0) return `snapshot error ${partition.errorCode}`
      return `snapshot ${partition.unalignedRecords.length} bytes at ${partition.position} of ${partition.size}`
    }
    case 'apiVersions':
      return 'api versions'
    default:
      return `${answer.api} ${answer.response.errorCode === 0 ? 'ok' : `error ${answer.response.errorCode}`}`
  }
}

function destinationText(to: Destination): string {
  return to.type === 'node' ? `${to.id}` : `bootstrap ${to.index}`
}

function idText(id: number): string {
  return id < 0 ? '-' : `${id}`
}
