import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { responseText } from './simulation/effect-text.ts'
import { answer, candidateNode, followingNode, leadingNode, loneNode } from './simulation/lone-node.ts'
import { fetchAnswer } from './simulation/peer-answers.ts'
import { beginFrom, endFrom, fetchFrom, voteFrom } from './simulation/peer-requests.ts'
import { directoryOf, type Player, Scene } from './simulation/scene.ts'

const stateOf = ({ quorum }: Player) => [quorum?.role, quorum?.epoch, quorum?.leaderId]
const textOf = (node: Player, request: Parameters<Player['ask']>[0]) => responseText(node.ask(request)!)

test('a leader that makes itself known is followed', () => {
  for (const make of [loneNode, candidateNode]) {
    const node = make()
    assert.match(textOf(node, beginFrom(2, 5)), /ok epoch 5/)
    assert.deepEqual(stateOf(node), ['follower', 5, 2])
  }
  const inTheSameEpoch = loneNode()
  inTheSameEpoch.ask(beginFrom(2, 3))
  assert.deepEqual(stateOf(inTheSameEpoch), ['follower', 3, 2])
})

test('a leader of an older epoch is told so, and who leads now', () => {
  const node = followingNode()
  const reply = node.ask(beginFrom(3, 2))
  assert.ok(reply?.api === 'beginQuorumEpoch')
  assert.match(responseText(reply), /error 74 epoch 3/)
  assert.deepEqual(reply.response.nodeEndpoints, [{ nodeId: 2, host: 'node-2', port: 9093 }])
  assert.deepEqual(stateOf(node), ['follower', 3, 2])
})

test('version 0 of an answer has no room for endpoints', () => {
  const reply = followingNode().ask(beginFrom(3, 2), 0)
  assert.ok(reply?.api === 'beginQuorumEpoch')
  assert.deepEqual(reply.response.nodeEndpoints, [])
  const fetch = leadingNode().ask(fetchFrom(2, { epoch: 4, log: [11, 4], maxWaitMs: 0 }), 15)
  assert.ok(fetch?.api === 'fetch')
  assert.deepEqual([fetch.response.nodeEndpoints, fetch.response.errorCode], [[], 0])
})

test('two leaders in one epoch stop the node that sees them', () => {
  for (const node of [followingNode(), leadingNode()]) {
    node.ask(beginFrom(3, node.quorum!.epoch))
    assert.match(JSON.stringify(node.effects.at(-1)), /halt.*two leaders/)
    assert.equal(node.ask(beginFrom(3, 9)), undefined)
  }
})

test('a request for another voter is refused, but its news are taken', () => {
  const node = loneNode()
  const request = beginFrom(2, 5)
  assert.ok(request.api === 'beginQuorumEpoch')
  const text = textOf(node, { ...request, request: { ...request.request, voterId: 3 } })
  assert.match(text, new RegExp(`error ${ErrorCode.invalidVoterKey}`))
  assert.deepEqual(stateOf(node), ['follower', 5, 2])
})

test('when the leader steps down, each voter campaigns by its place in the list', () => {
  const delay = (candidates: readonly number[]) => {
    const node = followingNode()
    const before = node.scene.nowMs
    assert.match(textOf(node, endFrom(2, 3, candidates)), /ok/)
    while (node.quorum?.role === 'follower') node.scene.advance(1)
    return node.scene.nowMs - before
  }
  assert.equal(delay([1, 3]), 0)
  assert.equal(delay([3, 1]), 500)
  assert.equal(delay([4, 5, 1]), 500)
  assert.equal(delay([4, 1, 5]), 250)
  assert.equal(delay([3]), 1000)
  assert.equal(delay([]), 1000)
})

test('once the leader steps down its followers support others', () => {
  const node = followingNode()
  node.ask(endFrom(2, 3, [3, 1]))
  assert.match(textOf(node, voteFrom(3, { epoch: 3, log: [10, 1], preVote: true })), /granted/)
})

test('an answer of a leader that stepped down does not put its successor off', () => {
  const node = followingNode()
  node.ask(endFrom(2, 3, [3, 1]))
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2 }))
  node.scene.advance(500)
  assert.equal(node.quorum?.role, 'prospective')
})

test('somebody else does not step down for the leader', () => {
  const node = followingNode()
  node.ask(endFrom(3, 2, [1]))
  assert.deepEqual(stateOf(node), ['follower', 3, 2])
})

test('a leader that has resigned tells the voters until they know, then starts over in a later epoch', () => {
  const scene = new Scene({ voters: 3 })
  scene.start()
  scene.elect(1)
  const node = scene.player(1)
  node.handle({ type: 'resign', leaderEpoch: 9 })
  assert.equal(node.quorum?.role, 'leader')
  node.handle({ type: 'resign', leaderEpoch: 1 })
  assert.deepEqual(stateOf(node), ['resigned', 1, undefined])
  scene.drop()
  scene.player(2).crash()
  scene.player(3).crash()
  scene.advance(1000)
  assert.deepEqual(stateOf(node), ['unattached', 2, undefined])
})

test('who led when it stopped does not lead or vote in that epoch again', () => {
  const node = loneNode({ quorumState: { leaderId: 1 } })
  assert.deepEqual(stateOf(node), ['resigned', 3, undefined])
  assert.match(textOf(node, voteFrom(3, { epoch: 3, log: [50, 2] })), /rejected/)
  node.scene.advance(3000)
  assert.notEqual(node.quorum?.epoch, 3)
})

test('who voted for itself when it stopped does not ask for votes in that epoch again', () => {
  const node = loneNode({ quorumState: { votedId: 1, votedDirectoryId: directoryOf(1) } })
  assert.deepEqual(stateOf(node), ['unattached', 3, undefined])
  node.scene.advance(10_000)
  for (const effect of node.effects) {
    if (effect.type === 'send' && effect.api === 'vote') assert.ok(effect.request.topics[0].partitions[0].preVote)
  }
  assert.match(textOf(node, voteFrom(3, { epoch: 3, log: [50, 2] })), /rejected/)
})

test('who is remembered as leader of an epoch it does not know votes for nobody in it', () => {
  const node = loneNode()
  const said = beginFrom(1, 7)
  assert.match(textOf(node, said), /ok epoch 7/)
  assert.deepEqual(stateOf(node), ['unattached', 7, undefined])
  assert.match(textOf(node, voteFrom(3, { epoch: 7, log: [50, 2] })), /rejected/)
})
