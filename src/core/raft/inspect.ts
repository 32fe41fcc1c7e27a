import type { Replica } from './replica.ts'
import type { Role } from './roles.ts'

/** The whole state in a few lines, for logs, transcripts and the simulator. Equal states give equal text. */
export function inspect(replica: Replica): string {
  const { log, history, key, leaderId, votedKey } = replica
  const voters = history.voters.voters.map(({ id, directoryId }) => `${id}:${directoryId.slice(-4)}`).join(',')
  const lines = [
    `node ${key.id} ${replica.role.type} epoch ${replica.epoch} leader ${leaderId ?? '-'} voted ${votedKey?.id ?? '-'}` +
      `${replica.outbox.isPersisted ? '' : ' (being written)'}`,
    `log [${log.view.logStartOffset}, ${log.logEndOffset}) written ${log.view.writtenOffset} flushed ${log.view.flushedOffset}` +
      ` last epoch ${log.lastEpoch} high watermark ${replica.highWatermark}` +
      `${replica.logChange === undefined ? '' : ` ${replica.logChange.type} to ${replica.logChange.endOffset}`}`,
    `voters ${voters} at ${history.votersOffset} kraft.version ${history.kraftVersion}`,
  ]
  const details = detailsOf(replica.role)
  if (details !== '') lines.push(details)
  const open = replica.open.inspect()
  if (open.length > 0) lines.push(`open ${open.join(', ')}`)
  if (replica.isHalted) lines.push('halted')
  return lines.join('\n')
}

function detailsOf(role: Role): string {
  switch (role.type) {
    case 'unattached':
      return ''
    case 'follower':
      return role.snapshot === undefined
        ? ''
        : `fetching snapshot ${role.snapshot.id.endOffset}-${role.snapshot.id.epoch} at ${role.snapshot.position}`
    case 'prospective':
    case 'candidate':
      return `votes ${role.tally.inspect()}`
    case 'leader': {
      const replicas = role.progress.all().map(({ key, logEndOffset }) => `${key.id}@${logEndOffset}`)
      const change = role.voterChange
      return (
        `epoch start ${role.epochStartOffset} committed ${role.highWatermark ?? '-'} replicas ${replicas.join(' ')}` +
        `${change === undefined ? '' : ` ${change.type} voter ${change.key.id} at ${change.votersOffset ?? '-'}`}`
      )
    }
    case 'resigned':
      return `unacknowledged ${[...role.unacknowledged].join(' ')}`
  }
}
