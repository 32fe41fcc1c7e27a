import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { metadataTopicId, zeroUuid } from '../../base/uuid.ts'
import type { RaftRequest } from './messages.ts'
import { responseText } from './simulation/effect-text.ts'
import { answer, followingNode, leadingNode, loneNode } from './simulation/lone-node.ts'
import { fetchAnswer } from './simulation/peer-answers.ts'
import {
  addVoter,
  beginFrom,
  endFrom,
  fetchFrom,
  fetchSnapshotFrom,
  removeVoter,
  updateVoter,
  voteFrom,
} from './simulation/peer-requests.ts'
import { directoryOf, type Player, Scene } from './simulation/scene.ts'

const typesSince = (node: Player, from: number) => node.effects.slice(from).map(({ type }) => type)

test('a quorum of one leads at once and commits what it flushes', () => {
  const scene = new Scene({ voters: 1 })
  scene.start()
  const node = scene.player(1)
  assert.deepEqual([node.quorum?.role, node.quorum?.epoch, node.quorum?.highWatermark], ['leader', 1, 3])
  node.holdsDisk = true
  node.append(5)
  assert.equal(node.quorum?.highWatermark, 3)
  node.finishDisk()
  assert.equal(node.quorum?.highWatermark, 8)
  assert.equal(scene.nowMs, 0)
})

test('one sync covers all appends before it, one is open at a time', () => {
  const node = loneNode({}, { voters: 1 })
  node.holdsDisk = true
  const from = node.effects.length
  node.append(1)
  node.append(1)
  node.append(1)
  assert.deepEqual(typesSince(node, from), ['append', 'sync', 'append', 'append'])
  node.finishDisk()
  assert.equal(node.effects.filter(({ type }) => type === 'sync').length - 1, 2)
  assert.equal(node.quorum?.highWatermark, 14)
})

test('a request from another cluster, or about another topic, is refused by every API', () => {
  const requests: RaftRequest[] = [
    voteFrom(2, { epoch: 9, log: [10, 1] }),
    beginFrom(2, 9),
    endFrom(2, 9, []),
    fetchFrom(2, { epoch: 9, log: [10, 1] }),
    fetchSnapshotFrom(2, { epoch: 9, snapshot: [5, 1], position: 0 }),
    addVoter(4),
    removeVoter(2),
    updateVoter(2, 9),
  ]
  for (const request of requests) {
    assert.ok('request' in request)
    const node = leadingNode()
    const elsewhere = { ...request, request: { ...request.request, clusterId: 'other' } } as RaftRequest
    assert.match(responseText(node.ask(elsewhere)!), new RegExp(`error ${ErrorCode.inconsistentClusterId}`))
    if (!('topics' in request.request)) continue
    for (const topics of [[], [{ topicName: 'x', name: 'x', topic: 'x', topicId: zeroUuid, partitions: [] }]]) {
      const strange = { ...request, request: { ...request.request, topics } } as RaftRequest
      assert.match(responseText(node.ask(strange)!), new RegExp(`error ${ErrorCode.invalidRequest}`))
    }
    assert.equal(node.quorum?.epoch, 4)
  }
})

test('a fetch may name the topic by its id alone', () => {
  const fetch = fetchFrom(2, { epoch: 4, log: [11, 4], maxWaitMs: 0 })
  assert.ok(fetch.api === 'fetch')
  const topics = fetch.request.topics.map(topic => ({ ...topic, topic: '', topicId: metadataTopicId }))
  const named = { ...fetch, request: { ...fetch.request, topics } }
  assert.match(responseText(leadingNode().ask(named)!), /fetch empty/)
})

test('a disk that fails stops the node, and nothing that waited leaves it', () => {
  const node = loneNode()
  node.holdsDisk = true
  let hasAnswered = false
  node.request(voteFrom(3, { epoch: 5, log: [10, 1] }), () => {
    hasAnswered = true
  })
  assert.deepEqual(node.handle({ type: 'diskFailed', reason: 'EIO' }), [{ type: 'halt', reason: 'EIO' }])
  assert.deepEqual(node.handle({ type: 'quorumStatePersisted' }), [])
  assert.deepEqual(node.handle({ type: 'tick' }), [])
  assert.equal(node.quorum?.nextDeadlineMs(), undefined)
  assert.ok(!hasAnswered)
})

test('a tick when nothing is due does nothing', () => {
  for (const make of [loneNode, followingNode, leadingNode]) {
    const node = make()
    const before = node.quorum!.inspect()
    assert.deepEqual(node.handle({ type: 'tick' }), [])
    assert.equal(node.quorum!.inspect(), before)
  }
})

test('the next deadline is always ahead', () => {
  for (const make of [loneNode, followingNode, leadingNode]) {
    const node = make()
    for (let i = 0; i < 200; i++) {
      const deadlineMs = node.quorum?.nextDeadlineMs()
      if (deadlineMs === undefined) break
      assert.ok(deadlineMs > node.scene.nowMs)
      node.scene.nowMs = deadlineMs
      node.handle({ type: 'tick' })
    }
  }
})

test('an observer never campaigns, whoever is gone', () => {
  const node = loneNode({}, { voters: 3, config: { isController: false } })
  node.scene.advance(60_000)
  assert.equal(node.quorum?.role, 'unattached')
  const replaced = loneNode({ quorumState: { leaderId: 2 } }, { voters: 3, config: { directoryId: directoryOf(9) } })
  replaced.scene.advance(60_000)
  assert.equal(replaced.quorum?.role, 'follower')
})

test('an observer whose leader is silent asks others and the leader by turns', () => {
  const bootstrapServers = [{ host: 'node-3', port: 9093 }]
  const node = loneNode(
    { quorumState: { leaderId: 2 } },
    { voters: 3, config: { isController: false, bootstrapServers } },
  )
  const asked: string[] = []
  for (let i = 0; i < 12; i++) {
    const from = node.effects.length
    node.scene.advance(1000)
    for (const effect of node.effects.slice(from)) if (effect.type === 'send') asked.push(effect.to.type)
  }
  assert.deepEqual(asked.slice(0, 4), ['bootstrap', 'node', 'bootstrap', 'node'])
})

test('bootstrap servers are asked for the leader where there are any', () => {
  const bootstrapServers = [{ host: 'node-3', port: 9093 }]
  const node = loneNode({}, { voters: 3, config: { bootstrapServers } })
  const sent = node.effects.findLast(effect => effect.type === 'send')
  assert.deepEqual(sent?.type === 'send' && sent.to, { type: 'bootstrap', index: 0 })
})

test('a leader without anybody left to tell shuts down when its time is up', () => {
  const node = leadingNode()
  const from = node.effects.length
  node.handle({ type: 'shutdown' })
  assert.equal(node.quorum?.role, 'resigned')
  assert.ok(!typesSince(node, from).includes('shutdownComplete'))
  const reply = node.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  assert.match(responseText(reply!), /error 6/)
  node.scene.advance(2000)
  assert.equal(node.effects.at(-1)?.type, 'shutdownComplete')
  assert.equal(node.ask(beginFrom(2, 9)), undefined)
})

test('a follower shuts down at once', () => {
  const node = followingNode()
  assert.deepEqual(node.handle({ type: 'shutdown' }), [{ type: 'shutdownComplete' }])
})

test('a quorum state that is behind the log is not believed, but for the epoch', () => {
  const node = loneNode({ batches: [[0, 9, 5]], quorumState: { leaderEpoch: 3, votedId: 2, leaderId: 1 } })
  assert.deepEqual([node.quorum?.role, node.quorum?.epoch], ['unattached', 5])
})

test('a node that followed starts as a follower, if it knows where the leader is', () => {
  assert.equal(loneNode({ quorumState: { leaderId: 2 } }).quorum?.role, 'follower')
  assert.equal(loneNode({ quorumState: { leaderId: 9 } }).quorum?.role, 'unattached')
})

test('what the shell must not do is found out', () => {
  const late = loneNode()
  late.scene.nowMs = 5
  late.handle({ type: 'tick' })
  late.scene.nowMs = 4
  assert.throws(() => late.handle({ type: 'tick' }), /does not go back/)
  assert.throws(() => loneNode().handle({ type: 'flushed' }), /sync is open/)
  assert.throws(() => loneNode().handle({ type: 'truncated' }), /truncation/)
  assert.throws(() => loneNode().handle({ type: 'snapshotLoaded', controlRecords: [] }), /loaded/)
  const twice = leadingNode()
  const request = {
    type: 'request',
    requestId: 99,
    apiVersion: 18,
    ...fetchFrom(2, { epoch: 4, log: [11, 4] }),
  } as const
  twice.handle(request)
  assert.throws(() => twice.handle(request), /id of its own/)
  const forgetful = followingNode()
  forgetful.log.append = () => {}
  const take = () =>
    answer(forgetful, 2, fetchAnswer({ epoch: 3, leaderId: 2 }), [
      { baseOffset: 10, lastOffset: 10, leaderEpoch: 3, controlRecords: [], bytes: Buffer.alloc(0) },
    ])
  assert.throws(take, /carries out an append/)
})
