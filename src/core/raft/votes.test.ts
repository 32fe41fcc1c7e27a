import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { responseText } from './simulation/effect-text.ts'
import { answer, candidateNode, followingNode, leadingNode, loneNode, prospectiveNode } from './simulation/lone-node.ts'
import { fetchAnswer, voteAnswer } from './simulation/peer-answers.ts'
import { voteFrom } from './simulation/peer-requests.ts'
import { directoryOf, type Player } from './simulation/scene.ts'

function verdict(node: Player, request: ReturnType<typeof voteFrom>): string {
  const reply = node.ask(request)
  return reply === undefined
    ? 'held back'
    : responseText(reply)
        .replace(/ epoch.*/, '')
        .replace('vote ', '')
}

const votedFor = (id: number) => ({ quorumState: { votedId: id, votedDirectoryId: directoryOf(id) } })

test('at kraft.version 0 a vote that was read from disk again is that of the node, whatever its directory', () => {
  const past = { quorumState: { votedId: 3 } }
  const vote = (id: number) => voteFrom(id, { epoch: 3, log: [50, 2] })
  assert.equal(verdict(loneNode(past, { voters: 3, isStatic: true }), vote(3)), 'granted')
  assert.equal(verdict(loneNode(past, { voters: 3, isStatic: true }), vote(2)), 'rejected')
})

test('each role answers votes and pre-votes of its own epoch by its own rule', () => {
  const rules: [name: string, make: () => Player, vote: string, preVote: string][] = [
    ['unattached', () => loneNode(), 'granted', 'granted'],
    ['voted for the same', () => loneNode(votedFor(3)), 'granted', 'granted'],
    ['voted for another', () => loneNode(votedFor(2)), 'rejected', 'granted'],
    ['follower, not served yet', () => followingNode({ isServed: false }), 'rejected', 'granted'],
    ['follower, served', () => followingNode(), 'rejected', 'rejected'],
    ['prospective', () => prospectiveNode(), 'granted', 'granted'],
    ['prospective that voted', () => prospectiveNode(votedFor(2)), 'rejected', 'granted'],
    ['candidate', () => candidateNode(), 'rejected', 'granted'],
    ['leader', () => leadingNode(), 'rejected', 'rejected'],
    ['resigned', () => loneNode({ quorumState: { leaderId: 1 } }), 'rejected', 'granted'],
  ]
  for (const [name, make, vote, preVote] of rules) {
    for (const isPreVote of [false, true]) {
      const node = make()
      const epoch = node.quorum!.epoch
      const request = voteFrom(3, { epoch, log: [50, epoch - (isPreVote ? 0 : 1)], preVote: isPreVote })
      assert.equal(verdict(node, request), isPreVote ? preVote : vote, `${name}, ${isPreVote ? 'pre-vote' : 'vote'}`)
    }
  }
})

test('only a log that is at least as up to date gets a vote', () => {
  const logs: [offset: number, epoch: number, expected: string][] = [
    [10, 1, 'granted'],
    [9, 1, 'rejected'],
    [99, 0, 'rejected'],
    [0, 2, 'granted'],
  ]
  for (const [offset, epoch, expected] of logs) {
    for (const preVote of [false, true]) {
      assert.equal(verdict(loneNode(), voteFrom(3, { epoch: 3, log: [offset, epoch], preVote })), expected)
    }
  }
  // Not even when the vote was given to it before: it may have lost what it had.
  assert.equal(verdict(loneNode(votedFor(3)), voteFrom(3, { epoch: 3, log: [9, 1] })), 'rejected')
})

test('a vote is for one replica: the same node with another directory is another candidate', () => {
  const node = loneNode(votedFor(3))
  assert.equal(verdict(node, voteFrom(3, { epoch: 3, log: [10, 1], directoryId: directoryOf(9) })), 'rejected')
})

test('a vote is on disk before it leaves', () => {
  const node = loneNode()
  node.holdsDisk = true
  let reply: unknown
  node.request(voteFrom(3, { epoch: 5, log: [10, 1] }), given => {
    reply = given
  })
  assert.equal(reply, undefined)
  assert.equal(node.quorumState?.votedId, -1)
  node.finishDisk()
  assert.notEqual(reply, undefined)
  assert.deepEqual([node.quorumState?.leaderEpoch, node.quorumState?.votedId], [5, 3])
})

test('a pre-vote changes nothing', () => {
  const node = loneNode()
  const before = node.quorum!.inspect()
  const effects = node.effects.length
  verdict(node, voteFrom(3, { epoch: 3, log: [10, 1], preVote: true }))
  assert.equal(node.quorum!.inspect(), before)
  assert.equal(node.effects.length, effects + 1)
})

test('an observer that is no longer served supports a change: it may be a voter that does not know it yet', () => {
  const node = loneNode({ quorumState: { leaderId: 2 } }, { voters: 3, config: { directoryId: directoryOf(9) } })
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2 }))
  const request = voteFrom(3, { epoch: 3, log: [50, 3], preVote: true })
  assert.equal(verdict(node, request), 'rejected')
  node.scene.advance(10_000)
  assert.deepEqual([node.quorum?.role, node.quorum?.leaderId], ['follower', 2])
  assert.equal(verdict(node, request), 'granted')
})

test('a higher epoch moves a node there, without the vote of the old one', () => {
  const node = leadingNode()
  assert.equal(verdict(node, voteFrom(3, { epoch: 5, log: [50, 4] })), 'granted')
  assert.deepEqual([node.quorum?.role, node.quorum?.epoch], ['unattached', 5])
  assert.ok(node.effects.some(effect => effect.type === 'lostLeadership' && effect.leaderEpoch === 4))
})

test('votes that make no sense, are late, or are meant for somebody else are refused', () => {
  const cases: [request: ReturnType<typeof voteFrom>, expected: number][] = [
    [voteFrom(3, { epoch: 2, log: [10, 1] }), ErrorCode.fencedLeaderEpoch],
    [voteFrom(3, { epoch: 3, log: [10, 3] }), ErrorCode.invalidRequest],
    [voteFrom(3, { epoch: 3, log: [10, 4], preVote: true }), ErrorCode.invalidRequest],
    [voteFrom(3, { epoch: 3, log: [-1, 1] }), ErrorCode.invalidRequest],
    [voteFrom(-1, { epoch: 3, log: [10, 1] }), ErrorCode.invalidRequest],
    [voteFrom(3, { epoch: 3, log: [10, 1], to: 2 }), ErrorCode.invalidVoterKey],
  ]
  for (const [request, expected] of cases) assert.equal(verdict(loneNode(), request), `error ${expected}`)
  // A log of the very epoch is fine for a pre-vote.
  assert.equal(verdict(loneNode(), voteFrom(3, { epoch: 3, log: [10, 3], preVote: true })), 'granted')
  const mine = voteFrom(3, { epoch: 3, log: [10, 1], to: 1 })
  assert.equal(verdict(loneNode(), mine), 'granted')
})

test('a voter whose disk was replaced does not vote for the one it was', () => {
  const node = loneNode({}, { voters: 3, config: { directoryId: directoryOf(9) } })
  assert.equal(verdict(node, voteFrom(3, { epoch: 3, log: [10, 1], to: 1 })), `error ${ErrorCode.invalidVoterKey}`)
})

test('a prospective that cannot win gives up at once: nobody had to change epoch for it', () => {
  const node = prospectiveNode()
  answer(node, 2, voteAnswer({ epoch: 3, granted: false }))
  assert.equal(node.quorum?.role, 'prospective')
  answer(node, 3, voteAnswer({ epoch: 3, granted: false }))
  assert.deepEqual([node.quorum?.role, node.quorum?.epoch], ['unattached', 3])
})

test('a voter that is gone from where it was counts as a no', () => {
  const node = prospectiveNode()
  answer(node, 2, voteAnswer({ epoch: 3, granted: false, errorCode: ErrorCode.invalidVoterKey }))
  answer(node, 3, voteAnswer({ epoch: 3, granted: false }))
  assert.equal(node.quorum?.role, 'unattached')
})

test('a prospective that doubted its leader goes back to it', () => {
  const node = followingNode()
  node.scene.advance(2000)
  assert.equal(node.quorum?.role, 'prospective')
  for (const id of [2, 3]) answer(node, id, voteAnswer({ epoch: 3, leaderId: 2, granted: false }))
  assert.deepEqual([node.quorum?.role, node.quorum?.leaderId], ['follower', 2])
})

test('a prospective that hears of a leader follows it', () => {
  const node = prospectiveNode()
  answer(node, 2, voteAnswer({ epoch: 3, leaderId: 3, granted: false }))
  assert.deepEqual([node.quorum?.role, node.quorum?.leaderId], ['follower', 3])
})

test('peers that do not know pre-votes get a vote', () => {
  const node = prospectiveNode()
  const sent = node.effects.findLast(effect => effect.type === 'send' && effect.api === 'vote')
  assert.ok(sent?.type === 'send')
  node.handle({ type: 'requestFailed', correlationId: sent.correlationId, unsupportedVersion: true })
  assert.deepEqual([node.quorum?.role, node.quorum?.epoch], ['candidate', 4])
})

test('peers that answer that they do not know this version get a vote', () => {
  const node = prospectiveNode()
  const response = { errorCode: ErrorCode.unsupportedVersion, topics: [], nodeEndpoints: [] }
  answer(node, 2, { api: 'vote', response })
  assert.deepEqual([node.quorum?.role, node.quorum?.epoch], ['candidate', 4])
})

test('a candidate asks only once its own vote is on disk, and its patience starts then', () => {
  const node = prospectiveNode()
  node.holdsDisk = true
  const asked = node.effects.length
  answer(node, 2, voteAnswer({ epoch: 3, granted: true }))
  node.scene.advance(10_000)
  assert.equal(node.quorum?.role, 'candidate')
  assert.ok(!node.effects.slice(asked).some(effect => effect.type === 'send'))
  node.holdsDisk = false
  node.finishDisk()
  const votes = node.effects.slice(asked).filter(effect => effect.type === 'send' && effect.api === 'vote')
  assert.equal(votes.length, 2)
  assert.equal(node.quorum?.role, 'candidate')
  assert.equal(node.deadlineMs - node.scene.nowMs, 1000)
})

test('nobody votes for a candidate that bears its own id', () => {
  assert.equal(verdict(loneNode(), voteFrom(1, { epoch: 3, log: [50, 2], directoryId: directoryOf(9) })), 'rejected')
})

test('who doubts its leader does not vote against it in its epoch', () => {
  const node = followingNode()
  node.scene.advance(2000)
  assert.equal(node.quorum?.role, 'prospective')
  assert.equal(verdict(node, voteFrom(3, { epoch: 3, log: [50, 2] })), 'rejected')
})

test('a newer epoch without a vote does not put the election off, a vote does', () => {
  const node = loneNode()
  const deadlineMs = node.deadlineMs
  node.scene.advance(500)
  assert.equal(verdict(node, voteFrom(3, { epoch: 5, log: [5, 1] })), 'rejected')
  node.scene.drop()
  node.scene.advance(deadlineMs - node.scene.nowMs)
  assert.equal(node.quorum?.role, 'prospective')

  const voter = loneNode()
  voter.scene.advance(900)
  assert.equal(verdict(voter, voteFrom(3, { epoch: 5, log: [50, 2] })), 'granted')
  voter.scene.advance(900)
  assert.equal(voter.quorum?.role, 'unattached')
})

test('a lost election is followed by a pause, not by the next one', () => {
  const node = candidateNode()
  for (const id of [2, 3]) answer(node, id, voteAnswer({ epoch: 4, granted: false }))
  assert.deepEqual([node.quorum?.role, node.quorum?.epoch], ['candidate', 4])
  node.scene.advance(1)
  assert.deepEqual([node.quorum?.role, node.quorum?.epoch], ['prospective', 4])
})

test('answers to an older election do not count', () => {
  const node = prospectiveNode()
  const sent = node.effects.findLast(
    effect => effect.type === 'send' && effect.api === 'vote' && effect.to.type === 'node' && effect.to.id === 2,
  )
  assert.ok(sent?.type === 'send')
  answer(node, 3, voteAnswer({ epoch: 3, granted: true }))
  assert.equal(node.quorum?.role, 'candidate')
  node.handle({ type: 'response', correlationId: sent.correlationId, ...voteAnswer({ epoch: 3, granted: true }) })
  node.handle({ type: 'response', correlationId: sent.correlationId, ...voteAnswer({ epoch: 4, granted: true }) })
  assert.equal(node.quorum?.role, 'candidate')
})
