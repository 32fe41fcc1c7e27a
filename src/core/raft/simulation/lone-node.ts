import { assert } from '../../../base/assert.ts'
import { zeroUuid } from '../../../base/uuid.ts'
import type { ControlRecord } from '../../../protocol/control-record.ts'
import type { QuorumState } from '../events.ts'
import type { RaftBatch } from '../log-view.ts'
import type { RaftResponse } from '../messages.ts'
import { fetchAnswer, voteAnswer } from './peer-answers.ts'
import { type Player, Scene, type SceneOptions } from './scene.ts'
import type { SimBatch } from './sim-log.ts'

/*
 * Node 1 of several, the others played by the test. Its log holds the offsets 0 to 9 in epoch 1 (unless told otherwise),
 * the first record being the voters, and it has seen epoch 3.
 */

export interface Past {
  readonly quorumState?: Partial<QuorumState>
  /** Batches as [base offset, last offset, epoch]. */
  readonly batches?: readonly (readonly [number, number, number])[]
}

export function loneNode(past: Past = {}, options: SceneOptions = { voters: 3 }): Player {
  const node = new Scene(options).player(1)
  const batches = (past.batches ?? [[0, 9, 1]]).map(([base, last, epoch]) => batch(base, last, epoch))
  const record: ControlRecord = { type: 'kraftVoters', value: node.scene.voters.toRecord() }
  const first = batches
    .slice(0, options.isStatic ? 0 : 1)
    .map(one => ({ ...one, controlRecords: [{ offset: 0, record }] }))
  node.log.append([...first, ...batches.slice(first.length)])
  node.log.startSync()
  node.log.syncDone()
  node.quorumState = { leaderId: -1, leaderEpoch: 3, votedId: -1, votedDirectoryId: zeroUuid, ...past.quorumState }
  node.start()
  return node
}

export function batch(baseOffset: number, lastOffset: number, leaderEpoch: number): SimBatch {
  const name = `${baseOffset}/${leaderEpoch}`
  return { name, baseOffset, lastOffset, leaderEpoch, controlRecords: [], bytes: Buffer.alloc(0) }
}

/** Follows node 2 in epoch 3; `served` when it has been answered by it. */
export function followingNode({ isServed = true, past = {} }: { isServed?: boolean; past?: Past } = {}): Player {
  const node = loneNode({ ...past, quorumState: { leaderId: 2, ...past.quorumState } })
  if (isServed) answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2 }))
  return node
}

export function prospectiveNode(past: Past = {}, options?: SceneOptions): Player {
  const node = loneNode(past, options)
  node.scene.advance(node.deadlineMs - node.scene.nowMs)
  while (node.quorum?.role === 'unattached') node.scene.advance(100)
  return node
}

/** Of epoch 4. */
export function candidateNode(past: Past = {}, options?: SceneOptions): Player {
  const node = prospectiveNode(past, options)
  for (const id of [2, 3, 4].filter(one => node.scene.voters.withId(one) && one <= node.scene.voters.majority)) {
    answer(node, id, voteAnswer({ epoch: 3, granted: true }))
  }
  return node
}

/** Of epoch 4, with nothing committed in it yet: its LeaderChange is at offset 10. */
export function leadingNode(past: Past = {}, options?: SceneOptions): Player {
  const node = candidateNode(past, options)
  for (const id of [2, 3, 4].filter(one => node.scene.voters.withId(one) && one <= node.scene.voters.majority)) {
    answer(node, id, voteAnswer({ epoch: 4, granted: true }))
  }
  assert(node.quorum?.role === 'leader', 'it was elected')
  return node
}

/** Answers the node's last request of that kind to that peer. */
export function answer(node: Player, from: number, response: RaftResponse, batches: readonly RaftBatch[] = []): void {
  const sent = node.effects.findLast(
    effect =>
      effect.type === 'send' && effect.api === response.api && effect.to.type === 'node' && effect.to.id === from,
  )
  assert(sent?.type === 'send', 'the node asked')
  node.handle({ type: 'response', correlationId: sent.correlationId, ...response, batches })
}
