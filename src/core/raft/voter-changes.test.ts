import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { zeroUuid } from '../../base/uuid.ts'
import type { RaftRequest } from './messages.ts'
import { answer, batch, followingNode, leadingNode, loneNode } from './simulation/lone-node.ts'
import { fetchAnswer, voteAnswer } from './simulation/peer-answers.ts'
import { addVoter, endFrom, fetchFrom, removeVoter, updateVoter } from './simulation/peer-requests.ts'
import { directoryOf, type Player, voterOfScene } from './simulation/scene.ts'
import { VoterSet } from './voters.ts'

/** Leads epoch 4 with its LeaderChange at 10 committed, and an observer 4 that has all there is. */
function activeLeader(): Player {
  const node = leadingNode()
  node.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  node.ask(fetchFrom(4, { epoch: 4, log: [11, 4] }))
  return node
}

const idsOf = (node: Player) => node.quorum?.voters.voters.map(({ id }) => id)

/** The code of the answer, now or later. */
function ask(node: Player, request: RaftRequest): { code?: number; message?: string | null } {
  const answered: { code?: number; message?: string | null } = {}
  node.request(request, reply => {
    answered.code = reply.response.errorCode
    if (reply.api === 'addRaftVoter' || reply.api === 'removeRaftVoter') answered.message = reply.response.errorMessage
  })
  return answered
}

function supports(node: Player, minVersion: number, maxVersion: number, errorCode = 0): void {
  const response = { errorCode, supportedFeatures: [{ name: 'kraft.version', minVersion, maxVersion }] }
  answer(node, 4, { api: 'apiVersions', response })
}

test('a voter is added once it told what it supports, is in force when appended, and answered when committed', () => {
  const node = activeLeader()
  const added = ask(node, addVoter(4))
  assert.deepEqual([idsOf(node), added.code], [[1, 2, 3], undefined])
  supports(node, 0, 1)
  assert.deepEqual([idsOf(node), added.code], [[1, 2, 3, 4], undefined])
  // Three of four are needed now.
  node.ask(fetchFrom(2, { epoch: 4, log: [12, 4] }))
  assert.equal(added.code, undefined)
  node.ask(fetchFrom(4, { epoch: 4, log: [12, 4] }))
  assert.equal(added.code, ErrorCode.none)
})

test('who does not want to wait is answered when it is appended', () => {
  const node = activeLeader()
  const added = ask(node, addVoter(4, { ackWhenCommitted: false }))
  supports(node, 0, 1)
  assert.equal(added.code, ErrorCode.none)
  assert.equal(ask(node, removeVoter(2)).code, ErrorCode.requestTimedOut)
})

test('an addition is refused for a reason', () => {
  const noListener = addVoter(4)
  assert.ok(noListener.api === 'addRaftVoter')
  const cases: [node: Player, request: RaftRequest, code: number][] = [
    [activeLeader(), addVoter(4, { clusterId: 'other' }), ErrorCode.inconsistentClusterId],
    [followingNode(), addVoter(4), ErrorCode.notLeaderOrFollower],
    [activeLeader(), addVoter(-1), ErrorCode.invalidRequest],
    [activeLeader(), addVoter(4, { directoryId: zeroUuid }), ErrorCode.invalidRequest],
    [
      activeLeader(),
      { api: 'addRaftVoter', request: { ...noListener.request, listeners: [] } },
      ErrorCode.invalidRequest,
    ],
    [activeLeader(), addVoter(3, { directoryId: directoryOf(9) }), ErrorCode.duplicateVoter],
    [leadingNode(), addVoter(4), ErrorCode.requestTimedOut],
  ]
  for (const [node, request, code] of cases) {
    const { code: given, message } = ask(node, request)
    assert.equal(given, code)
    assert.ok(message)
  }
})

test('an addition fails when the new voter cannot do it', () => {
  const unsupported = activeLeader()
  const tooOld = ask(unsupported, addVoter(4))
  supports(unsupported, 0, 0)
  assert.equal(tooOld.code, ErrorCode.invalidRequest)

  const failing = activeLeader()
  const failed = ask(failing, addVoter(4))
  supports(failing, 0, 1, ErrorCode.unsupportedVersion)
  assert.equal(failed.code, ErrorCode.requestTimedOut)

  const lagging = leadingNode()
  lagging.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  lagging.request(fetchFrom(4, { epoch: 4, log: [5, 1] }), () => {})
  const behind = ask(lagging, addVoter(4))
  supports(lagging, 0, 1)
  assert.deepEqual([behind.code, idsOf(lagging)], [ErrorCode.requestTimedOut, [1, 2, 3]])

  const silent = activeLeader()
  const unanswered = ask(silent, addVoter(4))
  for (let ms = 0; ms < 2000; ms += 500) {
    silent.scene.advance(500)
    silent.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  }
  assert.equal(unanswered.code, ErrorCode.requestTimedOut)
  supports(silent, 0, 1)
  assert.deepEqual(idsOf(silent), [1, 2, 3])
})

test('one change at a time, and the next only after the last has committed', () => {
  const node = activeLeader()
  ask(node, addVoter(4))
  assert.equal(ask(node, removeVoter(2)).code, ErrorCode.requestTimedOut)
  assert.equal(ask(node, updateVoter(2, 4)).code, ErrorCode.requestTimedOut)
  supports(node, 0, 1)
  // Even once the first was given up: it is in the log and may still commit.
  for (let ms = 0; ms < 2000; ms += 500) {
    node.scene.advance(500)
    for (const id of [2, 4]) node.ask(fetchFrom(id, { epoch: 4, log: [11, 4], maxWaitMs: 0 }))
  }
  assert.equal(ask(node, removeVoter(2)).code, ErrorCode.requestTimedOut)
  for (const id of [2, 4]) node.ask(fetchFrom(id, { epoch: 4, log: [12, 4] }))
  const removed = ask(node, removeVoter(2))
  assert.deepEqual([removed.code, idsOf(node)], [undefined, [1, 3, 4]])
})

test('a removal needs the very voter, and never the last one', () => {
  const node = activeLeader()
  assert.equal(ask(node, removeVoter(7)).code, ErrorCode.voterNotFound)
  assert.equal(ask(node, removeVoter(2, directoryOf(9))).code, ErrorCode.voterNotFound)
  assert.equal(ask(node, removeVoter(2, zeroUuid)).code, ErrorCode.invalidRequest)
  const alone = loneNode({}, { voters: 1 })
  assert.equal(alone.quorum?.highWatermark, 11)
  assert.equal(ask(alone, removeVoter(1)).code, ErrorCode.invalidRequest)
})

test('a leader that is removed commits that without its own log, then resigns', () => {
  const node = activeLeader()
  const removed = ask(node, removeVoter(1))
  node.ask(fetchFrom(2, { epoch: 4, log: [12, 4] }))
  assert.deepEqual([removed.code, node.quorum?.role, node.quorum?.highWatermark], [undefined, 'leader', 11])
  node.ask(fetchFrom(3, { epoch: 4, log: [12, 4] }))
  assert.deepEqual([removed.code, node.quorum?.role, node.quorum?.highWatermark], [ErrorCode.none, 'resigned', 12])
})

test('the high watermark does not fall when the new voters have less', () => {
  const node = activeLeader()
  node.ask(fetchFrom(3, { epoch: 4, log: [11, 4] }))
  node.append(1)
  node.ask(fetchFrom(2, { epoch: 4, log: [12, 4] }))
  assert.equal(node.quorum?.highWatermark, 12)
  ask(node, removeVoter(1))
  node.handle({ type: 'tick' })
  assert.equal(node.quorum?.highWatermark, 12)
  node.ask(fetchFrom(3, { epoch: 4, log: [13, 4] }))
  assert.equal(node.quorum?.highWatermark, 12)
})

test('a change that is cut off with the log never was', () => {
  const voters = new VoterSet([1, 2].map(id => voterOfScene(id)))
  const node = followingNode()
  const change = {
    ...batch(10, 10, 2),
    controlRecords: [{ offset: 10, record: { type: 'kraftVoters', value: voters.toRecord() } as const }],
  }
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2 }), [change])
  assert.deepEqual(idsOf(node), [1, 2])
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, diverging: [10, 1] }))
  assert.deepEqual(idsOf(node), [1, 2, 3])
})

test('a voter removed by a change that may not have committed still campaigns, without counting itself', () => {
  const voters = new VoterSet([2, 3, 4].map(id => voterOfScene(id)))
  const node = followingNode()
  const change = {
    ...batch(10, 10, 3),
    controlRecords: [{ offset: 10, record: { type: 'kraftVoters', value: voters.toRecord() } as const }],
  }
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2 }), [change])
  node.scene.advance(2000)
  assert.equal(node.quorum?.role, 'prospective')
  answer(node, 3, voteAnswer({ epoch: 3, granted: true }))
  assert.equal(node.quorum?.role, 'prospective')
  answer(node, 4, voteAnswer({ epoch: 3, granted: true }))
  assert.equal(node.quorum?.role, 'candidate')

  const committed = followingNode()
  answer(committed, 2, fetchAnswer({ epoch: 3, leaderId: 2, highWatermark: 11 }), [change])
  committed.scene.advance(20_000)
  assert.equal(committed.quorum?.role, 'follower')
})

test('a voter renews its endpoints and versions, answered once appended', () => {
  const node = activeLeader()
  assert.equal(ask(node, updateVoter(2, 4, { host: 'moved' })).code, ErrorCode.none)
  assert.equal(node.quorum?.voters.withId(2)?.endpoints[0].host, 'moved')
  const fresh = () => activeLeader()
  assert.equal(ask(fresh(), updateVoter(2, 3)).code, ErrorCode.fencedLeaderEpoch)
  assert.equal(ask(fresh(), updateVoter(7, 4)).code, ErrorCode.voterNotFound)
  assert.equal(ask(fresh(), updateVoter(2, 4, { directoryId: directoryOf(9) })).code, ErrorCode.voterNotFound)
  assert.equal(ask(fresh(), updateVoter(2, 4, { maxSupportedVersion: 0 })).code, ErrorCode.invalidRequest)
  assert.equal(ask(fresh(), updateVoter(2, 4, { maxSupportedVersion: -1 })).code, ErrorCode.invalidRequest)
})

test('a follower whose entry is out of date asks the leader to renew it', () => {
  const listeners = [{ name: 'CONTROLLER', host: 'moved', port: 9093 }]
  const node = loneNode({ quorumState: { leaderId: 2 } }, { voters: 3, config: { listeners } })
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2 }))
  for (let ms = 0; ms < 2100; ms += 300) {
    node.scene.advance(300)
    answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2 }))
  }
  const sent = node.effects.filter(effect => effect.type === 'send' && effect.api === 'updateRaftVoter')
  assert.equal(sent.length, 1)
})

test('a leader whose own entry is out of date, or not in the log, writes it with its first batch', () => {
  const typesOfStart = (node: Player) => {
    const first = node.effects.find(effect => effect.type === 'append')
    assert.ok(first?.type === 'append' && first.batch.type === 'control')
    return first.batch.records.map(({ type }) => type)
  }
  assert.deepEqual(typesOfStart(leadingNode()), ['leaderChange'])
  const listeners = [{ name: 'CONTROLLER', host: 'moved', port: 9093 }]
  const all = ['leaderChange', 'kraftVersion', 'kraftVoters']
  const moved = leadingNode({}, { voters: 3, config: { listeners } })
  assert.deepEqual(typesOfStart(moved), all)
  assert.equal(moved.quorum?.voters.withId(1)?.endpoints[0].host, 'moved')
  assert.deepEqual(typesOfStart(leadingNode({ batches: [] }, { voters: 3 })), all)
  assert.deepEqual(typesOfStart(leadingNode({}, { voters: 3, isStatic: true })), ['leaderChange'])
})

test('with kraft.version 0 voters are fixed, and any directory of a voter is that voter', () => {
  const node = leadingNode({}, { voters: 3, isStatic: true })
  node.ask(fetchFrom(2, { epoch: 4, log: [11, 4], directoryId: directoryOf(9) }))
  assert.equal(node.quorum?.highWatermark, 11)
  assert.equal(ask(node, addVoter(4)).code, ErrorCode.unsupportedVersion)
  assert.equal(ask(node, removeVoter(2)).code, ErrorCode.unsupportedVersion)
  assert.equal(ask(node, updateVoter(2, 4)).code, ErrorCode.none)
  assert.equal(node.quorum?.voters.withId(2)?.directoryId, zeroUuid)
})

test('an observer that may join asks to: first out with its old disk, then in', () => {
  const joining = (voters: VoterSet) => {
    const record = { type: 'kraftVoters', value: voters.toRecord() } as const
    const node = followingNode({ past: { batches: [] } })
    const other = loneNode(
      { quorumState: { leaderId: 2 }, batches: [] },
      { voters: 3, config: { autoJoin: true, directoryId: directoryOf(9) } },
    )
    assert.ok(node)
    answer(other, 2, fetchAnswer({ epoch: 3, leaderId: 2 }), [
      { ...batch(0, 0, 1), controlRecords: [{ offset: 0, record }] },
    ])
    for (let ms = 0; ms < 2100; ms += 300) {
      other.scene.advance(300)
      answer(other, 2, fetchAnswer({ epoch: 3, leaderId: 2 }))
    }
    const sent = other.effects.findLast(
      effect => effect.type === 'send' && (effect.api === 'addRaftVoter' || effect.api === 'removeRaftVoter'),
    )
    if (sent?.type !== 'send') return 'nothing'
    return sent.api === 'removeRaftVoter' ? `remove ${sent.request.voterDirectoryId.slice(0, 10)}` : sent.api
  }
  assert.equal(joining(new VoterSet([1, 2, 3].map(id => voterOfScene(id)))), 'remove directory1')
  assert.equal(joining(new VoterSet([2, 3].map(id => voterOfScene(id)))), 'addRaftVoter')
})

test('a voter that was removed does not join again by itself', () => {
  const record = (ids: number[]) =>
    ({ type: 'kraftVoters', value: new VoterSet(ids.map(id => voterOfScene(id))).toRecord() }) as const
  const node = loneNode({ quorumState: { leaderId: 2 } }, { voters: 3, config: { autoJoin: true } })
  const change = { ...batch(10, 10, 2), controlRecords: [{ offset: 10, record: record([2, 3]) }] }
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, highWatermark: 11 }), [change])
  for (let ms = 0; ms < 5000; ms += 300) {
    node.scene.advance(300)
    answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, highWatermark: 11 }))
  }
  assert.ok(!node.effects.some(effect => effect.type === 'send' && effect.api === 'addRaftVoter'))
})

test('a leadership that ends answers the change it did not finish', () => {
  const node = activeLeader()
  const added = ask(node, addVoter(4))
  node.handle({ type: 'resign', leaderEpoch: 4 })
  assert.equal(added.code, ErrorCode.notLeaderOrFollower)
  node.ask(endFrom(2, 9, []))
})
