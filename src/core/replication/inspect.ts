import { unreachable } from '../../base/assert.ts'
import type { Leader } from './leader.ts'
import type { Replica } from './replica.ts'
import type { Follower } from './roles.ts'

/** The whole state in a few lines, for logs and the simulator. Equal states give equal text. */
export function inspect(replica: Replica): string {
  const { log, config, metadata, logChange } = replica
  const lines = [
    `broker ${config.nodeId} ${replica.role.type} leader ${metadata?.leader ?? '-'} epoch ${metadata?.leaderEpoch ?? '-'}` +
      ` partition epoch ${metadata?.partitionEpoch ?? '-'}`,
    `log [${log.logStartOffset}, ${log.logEndOffset}) next ${log.nextOffset} flushed ${log.flushedOffset}` +
      ` latest epoch ${log.latestEpoch} high watermark ${replica.highWatermark}` +
      `${logChange === undefined ? '' : ` ${logChange.type}`}`,
  ]
  const details = detailsOf(replica)
  if (details !== '') lines.push(details)
  if (replica.isClosed) lines.push('closed')
  return lines.join('\n')
}

function detailsOf({ role, nowMs }: Replica): string {
  switch (role.type) {
    case 'idle':
      return ''
    case 'leader':
      return leaderDetails(role, nowMs)
    case 'follower':
      return followerDetails(role, nowMs)
    default:
      return unreachable(role)
  }
}

function leaderDetails({ isr, followers, epochStartOffset, hasEnoughReplicas }: Leader, nowMs: number): string {
  const { proposal } = isr
  const asked = proposal?.isr.map(({ brokerId, brokerEpoch }) => `${brokerId}@${brokerEpoch}`)
  const progress = followers.map(
    ({ replicaId, brokerEpoch, endOffset, caughtUpMs }) =>
      `${replicaId}@${brokerEpoch}:${endOffset} (caught up ${Math.round(nowMs - caughtUpMs)} ms ago)`,
  )
  return (
    `epoch start ${epochStartOffset} isr ${isr.committed.join(',')} at ${isr.partitionEpoch}` +
    `${asked === undefined ? '' : ` asked ${asked.join(',')} (${proposal?.state})`}` +
    `${hasEnoughReplicas ? '' : ' below the minimum'} followers ${progress.join(' ')}`
  )
}

function followerDetails(role: Follower, nowMs: number): string {
  const { request, outOfRange, epochSearch, appendEndOffset, isFenced, retryMs } = role
  const parts = [
    request === undefined ? 'nothing asked' : `asked ${request.type} ${request.correlationId}`,
    isFenced ? 'fenced' : '',
    outOfRange ?? '',
    epochSearch === undefined ? '' : `looking for epoch ${epochSearch.leaderEpoch}`,
    appendEndOffset === undefined ? '' : `appending to ${appendEndOffset}`,
    retryMs > nowMs ? `again in ${Math.round(retryMs - nowMs)} ms` : '',
  ]
  return parts.filter(part => part !== '').join(', ')
}
