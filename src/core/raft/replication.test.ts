import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import type { QuorumEffect } from './events.ts'
import { responseText } from './simulation/effect-text.ts'
import { answer, batch, followingNode, leadingNode, loneNode } from './simulation/lone-node.ts'
import { beginAnswer, fetchAnswer } from './simulation/peer-answers.ts'
import { fetchFrom, voteFrom } from './simulation/peer-requests.ts'
import { directoryOf, type Player } from './simulation/scene.ts'

const typesSince = (node: Player, from: number) => node.effects.slice(from).map(({ type }) => type)
const lastOf = <T extends QuorumEffect['type']>(node: Player, type: T) =>
  node.effects.findLast((effect): effect is QuorumEffect & { type: T } => effect.type === type)
const textOf = (node: Player, request: Parameters<Player['ask']>[0]) => responseText(node.ask(request)!)

/* The leader. Its log holds [0, 10) of epoch 1 and its LeaderChange at 10, of epoch 4. */

test('a new leader commits nothing before a record of its own epoch has', () => {
  const node = leadingNode()
  // A majority has all of epoch 1, and that does not make it committed: another leader could still replace it.
  assert.match(textOf(node, fetchFrom(2, { epoch: 4, log: [10, 1], maxWaitMs: 0 })), /high watermark -1/)
  assert.equal(node.quorum?.highWatermark, 0)
  assert.equal(lastOf(node, 'leaderActive'), undefined)
  node.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  assert.equal(node.quorum?.highWatermark, 11)
  assert.deepEqual(lastOf(node, 'leaderActive'), { type: 'leaderActive', leaderEpoch: 4 })
})

test("a leader's own log counts once it is flushed", () => {
  const node = leadingNode()
  node.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  node.holdsDisk = true
  node.append(2)
  node.ask(fetchFrom(2, { epoch: 4, log: [13, 4] }))
  assert.equal(node.quorum?.highWatermark, 11)
  node.finishDisk()
  assert.equal(node.quorum?.highWatermark, 13)
})

test('what a majority of the others has flushed commits without the leader', () => {
  const node = leadingNode()
  node.holdsDisk = true
  node.handle({ type: 'append', appendId: 1, leaderEpoch: 4, recordCount: 1, bytes: undefined })
  node.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  node.append(2)
  for (const id of [2, 3]) node.ask(fetchFrom(id, { epoch: 4, log: [13, 4] }))
  assert.equal(node.quorum?.highWatermark, 13)
})

test('a fetch waits for records that are written, and is answered with them', () => {
  const node = leadingNode()
  node.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  let reply: string | undefined
  node.request(fetchFrom(3, { epoch: 4, log: [11, 4] }), given => {
    reply = responseText(given)
  })
  assert.equal(reply, undefined)
  node.holdsDisk = true
  node.append(1)
  assert.equal(reply, undefined)
  node.finishDisk()
  assert.match(reply!, /fetch records high watermark 11/)
})

test('a limit of 0 in a fetch is none: Kafka leaves that of the partition there', () => {
  const node = leadingNode()
  const fetch = fetchFrom(2, { epoch: 4, log: [10, 1] })
  assert.ok(fetch.api === 'fetch')
  const [topic] = fetch.request.topics
  const topics = [{ ...topic, partitions: [{ ...topic.partitions[0], partitionMaxBytes: 0 }] }]
  node.request({ api: 'fetch', request: { ...fetch.request, maxBytes: 70_000, topics } }, () => {})
  const read = node.effects.findLast(effect => effect.type === 'readLog')
  assert.equal(read?.type === 'readLog' && read.maxBytes, 70_000)
})

test('a fetch that gets nothing is answered empty in the end, at once if it will not wait', () => {
  const node = leadingNode()
  assert.match(textOf(node, fetchFrom(2, { epoch: 4, log: [11, 4], maxWaitMs: 0 })), /empty/)
  let reply: string | undefined
  node.request(fetchFrom(3, { epoch: 4, log: [11, 4], maxWaitMs: 300 }), given => {
    reply = responseText(given)
  })
  node.scene.advance(299)
  assert.equal(reply, undefined)
  node.scene.advance(1)
  assert.match(reply!, /empty/)
})

test('a follower that knows less of the high watermark is told at once', () => {
  const node = leadingNode()
  node.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  assert.match(textOf(node, fetchFrom(3, { epoch: 4, log: [11, 4], highWatermark: 5 })), /high watermark 11/)
  assert.equal(node.ask(fetchFrom(3, { epoch: 4, log: [11, 4], highWatermark: 11 })), undefined)
})

test('a second fetch of a replica answers the first: its connection is gone', () => {
  const node = leadingNode()
  let first: string | undefined
  node.request(fetchFrom(2, { epoch: 4, log: [11, 4] }), given => {
    first = responseText(given)
  })
  assert.equal(first, undefined)
  node.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  assert.match(first!, /empty/)
})

test('a follower whose log parts from the leader is told where', () => {
  const node = leadingNode()
  assert.match(textOf(node, fetchFrom(2, { epoch: 4, log: [12, 2] })), /diverging 10\/1/)
  assert.match(textOf(node, fetchFrom(2, { epoch: 4, log: [15, 4] })), /diverging 11\/4/)
})

test('who asks for something else than the leader of that epoch gets its code', () => {
  const fetches: [node: Player, fetch: Parameters<typeof fetchFrom>[1], code: number][] = [
    [leadingNode(), { epoch: 3, log: [10, 1] }, ErrorCode.fencedLeaderEpoch],
    [leadingNode(), { epoch: 5, log: [10, 1] }, ErrorCode.unknownLeaderEpoch],
    [followingNode(), { epoch: 3, log: [10, 1] }, ErrorCode.notLeaderOrFollower],
    [leadingNode(), { epoch: 4, log: [-1, 1] }, ErrorCode.invalidRequest],
    [leadingNode(), { epoch: 4, log: [10, -1] }, ErrorCode.invalidRequest],
    [leadingNode(), { epoch: 4, log: [10, 5] }, ErrorCode.invalidRequest],
    [leadingNode(), { epoch: 4, log: [10, 1], maxWaitMs: -1 }, ErrorCode.invalidRequest],
  ]
  for (const [node, fetch, code] of fetches) {
    const { epoch } = node.quorum!
    assert.match(textOf(node, fetchFrom(2, fetch)), new RegExp(`fetch error ${code} `))
    assert.equal(node.quorum?.epoch, epoch)
  }
  const own = fetchFrom(1, { epoch: 4, log: [10, 1] })
  assert.match(textOf(leadingNode(), own), /error 42/)
  assert.equal(responseText(leadingNode().ask(fetchFrom(2, { epoch: 4, log: [10, 1] }), 11)!), 'fetch error 35')
})

test('a consumer may read along and counts for nothing', () => {
  const node = leadingNode()
  node.request(fetchFrom(-1, { epoch: 4, log: [11, 4] }), () => {})
  assert.equal(node.quorum?.highWatermark, 0)
  assert.deepEqual(node.quorum?.describe(node.now)?.observers, [])
})

test('bytes that were read while the leadership ended are not sent under its name', () => {
  const node = leadingNode()
  node.holdsDisk = true
  const replies: string[] = []
  node.request(fetchFrom(2, { epoch: 4, log: [3, 1] }), reply => replies.push(responseText(reply)))
  node.handle({ type: 'resign', leaderEpoch: 4 })
  node.finishDisk()
  assert.equal(replies.length, 1)
  assert.match(replies[0], /error 6/)
})

test('records are appended by the active leader of that epoch only', () => {
  const node = leadingNode()
  const refused = (at: Player, leaderEpoch: number) =>
    at.handle({ type: 'append', appendId: 7, leaderEpoch, recordCount: 1, bytes: undefined })[0]
  const refusal = { type: 'appendRefused', appendId: 7, errorCode: ErrorCode.notLeaderOrFollower }
  assert.deepEqual(refused(node, 4), refusal)
  node.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  assert.deepEqual(refused(node, 3), refusal)
  assert.deepEqual(refused(followingNode(), 3), refusal)
  const [appended] = node.append(3)
  assert.ok(appended.type === 'append')
  assert.deepEqual([appended.baseOffset, appended.leaderEpoch], [11, 4])
})

test('a leader that nobody follows gives up after one and a half fetch timeouts', () => {
  const node = leadingNode()
  node.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  node.scene.advance(2999)
  assert.equal(node.quorum?.role, 'leader')
  node.scene.advance(1)
  assert.equal(node.quorum?.role, 'resigned')
  assert.deepEqual(lastOf(node, 'lostLeadership'), { type: 'lostLeadership', leaderEpoch: 4 })
})

test('a voter that does not fetch is told again who leads', () => {
  const node = leadingNode()
  const begins = () => node.effects.filter(effect => effect.type === 'send' && effect.api === 'beginQuorumEpoch').length
  assert.equal(begins(), 2)
  const first = node.effects.find(effect => effect.type === 'send' && effect.api === 'beginQuorumEpoch')
  assert.ok(first?.type === 'send')
  node.handle({ type: 'requestFailed', correlationId: first.correlationId })
  node.scene.advance(20)
  assert.equal(begins(), 3)
  // Once it has answered it is told again when it does not fetch for half a fetch timeout.
  answer(node, 3, beginAnswer({ epoch: 4, leaderId: 1 }))
  node.scene.advance(900)
  assert.equal(begins(), 3)
  node.scene.advance(200)
  assert.equal(begins(), 4)
})

test('DescribeQuorum tells voters from observers, and how far they are', () => {
  const node = leadingNode()
  node.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  node.ask(fetchFrom(7, { epoch: 4, log: [10, 1] }))
  const description = node.quorum!.describe(node.now)!
  assert.deepEqual([description.leaderId, description.leaderEpoch, description.highWatermark], [1, 4, 11])
  const ends = (states: typeof description.observers) =>
    states.map(({ replicaId, logEndOffset }) => [replicaId, logEndOffset])
  assert.deepEqual(ends(description.currentVoters), [
    [1, 11],
    [2, 11],
    [3, -1],
  ])
  assert.deepEqual(ends(description.observers), [[7, 10]])
  assert.equal(description.currentVoters[1].lastFetchTimestamp, node.now.wallMs)
  assert.equal(followingNode().quorum!.describe(node.now), undefined)
})

/* The follower, of node 2 in epoch 3. Its log holds [0, 10) of epoch 1. */

test('a follower asks for more once it has flushed what it has', () => {
  const node = followingNode()
  node.holdsDisk = true
  const from = node.effects.length
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, highWatermark: 4 }), [batch(10, 11, 2), batch(12, 12, 3)])
  assert.deepEqual(typesSince(node, from), ['appendFetched', 'highWatermark', 'sync'])
  node.handle({ type: 'tick' })
  assert.ok(!typesSince(node, from).includes('send'))
  node.finishDisk()
  const fetch = lastOf(node, 'send')
  assert.ok(fetch?.api === 'fetch')
  const { fetchOffset, lastFetchedEpoch, highWatermark } = fetch.request.topics[0].partitions[0]
  assert.deepEqual([fetchOffset, lastFetchedEpoch, highWatermark], [13, 3, 4])
})

test("a follower's high watermark is within its log and never falls", () => {
  const node = followingNode()
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, highWatermark: 50 }))
  assert.equal(node.quorum?.highWatermark, 10)
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, highWatermark: 5 }))
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, highWatermark: -1 }))
  assert.equal(node.quorum?.highWatermark, 10)
})

test('batches that do not continue the log are not taken', () => {
  for (const batches of [
    [batch(11, 12, 3)],
    [batch(9, 10, 3)],
    [batch(10, 10, 0)],
    [batch(10, 10, 4)],
    [batch(10, 10, 3), batch(12, 12, 3)],
  ]) {
    const node = followingNode()
    const from = node.effects.length
    answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, highWatermark: 20 }), batches)
    assert.deepEqual(typesSince(node, from), [])
    assert.equal(node.quorum?.highWatermark, 0)
    node.scene.advance(20)
    assert.deepEqual(typesSince(node, from), ['send'])
  }
})

test('a follower cuts its log where it parts from the leader, by epoch', () => {
  const batches = [
    [0, 2, 1],
    [3, 4, 1],
    [5, 5, 2],
    [6, 7, 2],
    [8, 8, 3],
    [9, 9, 3],
  ] as const
  const cut = (diverging: [number, number]) => {
    const node = followingNode({ past: { batches } })
    answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, diverging }))
    return lastOf(node, 'truncate')?.endOffset
  }
  assert.equal(cut([9, 3]), 9)
  assert.equal(cut([6, 2]), 6)
  assert.equal(cut([9, 2]), 8)
  assert.equal(cut([3, 1]), 3)
  // Nothing to cut: the leader makes no sense, and nothing is done.
  assert.equal(cut([20, 3]), undefined)
})

test('while the log is cut nothing is fetched and nobody campaigns', () => {
  const batches = [
    [0, 5, 1],
    [6, 9, 1],
  ] as const
  const node = followingNode({ past: { batches } })
  node.holdsDisk = true
  const from = node.effects.length
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, diverging: [6, 1] }))
  node.scene.advance(10_000)
  assert.deepEqual(typesSince(node, from), ['truncate'])
  node.finishDisk()
  const fetch = lastOf(node, 'send')
  assert.ok(fetch?.api === 'fetch' && fetch.request.topics[0].partitions[0].fetchOffset === 6)
})

test('a cut within a batch takes the whole batch', () => {
  const node = followingNode()
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, diverging: [6, 1] }))
  const fetch = lastOf(node, 'send')
  assert.ok(fetch?.api === 'fetch' && fetch.request.topics[0].partitions[0].fetchOffset === 0)
})

test('a node whose log is being cut does not campaign even when its leader is gone', () => {
  const node = followingNode()
  node.holdsDisk = true
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, diverging: [0, 1] }))
  node.ask(voteFrom(3, { epoch: 5, log: [5, 0] }))
  assert.equal(node.quorum?.role, 'unattached')
  node.scene.advance(10_000)
  assert.equal(node.quorum?.role, 'unattached')
})

test('a leader that wants committed records cut stops the node', () => {
  const node = followingNode()
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, highWatermark: 8 }))
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, diverging: [7, 1] }))
  assert.match(JSON.stringify(node.effects.at(-1)), /"halt".*cut to 7.*committed up to 8/)
  assert.equal(lastOf(node, 'truncate'), undefined)
  assert.equal(node.deadlineMs, Number.POSITIVE_INFINITY)
})

test('an answer to a fetch from before the log changed is not used', () => {
  const node = followingNode()
  const sent = lastOf(node, 'send')!
  node.handle({ type: 'requestFailed', correlationId: sent.correlationId })
  node.handle({
    type: 'response',
    correlationId: sent.correlationId,
    ...fetchAnswer({ epoch: 3, leaderId: 2 }),
    batches: [batch(10, 10, 3)],
  })
  assert.equal(lastOf(node, 'appendFetched'), undefined)
})

test('a follower without answers doubts its leader after the fetch timeout, and not while its own disk is slow', () => {
  const node = followingNode()
  node.scene.advance(1999)
  assert.equal(node.quorum?.role, 'follower')
  node.scene.advance(1)
  assert.equal(node.quorum?.role, 'prospective')

  const slow = followingNode()
  slow.holdsDisk = true
  answer(slow, 2, fetchAnswer({ epoch: 3, leaderId: 2 }), [batch(10, 10, 3)])
  slow.scene.advance(10_000)
  assert.equal(slow.quorum?.role, 'follower')
  slow.holdsDisk = false
  slow.finishDisk()
  for (const ms of [0, 1999]) {
    slow.scene.advance(ms)
    assert.equal(slow.quorum?.role, 'follower')
  }
})

test('a fetch that fails is tried again after a pause, not in a loop', () => {
  const node = followingNode()
  const from = node.effects.length
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, errorCode: ErrorCode.brokerNotAvailable }))
  assert.deepEqual(typesSince(node, from), [])
  node.scene.advance(20)
  assert.deepEqual(typesSince(node, from), ['send'])
})

test('an answer of a later epoch moves the follower to its leader', () => {
  const node = followingNode()
  answer(node, 2, fetchAnswer({ epoch: 6, leaderId: 3, errorCode: ErrorCode.fencedLeaderEpoch }))
  assert.deepEqual([node.quorum?.role, node.quorum?.epoch, node.quorum?.leaderId], ['follower', 6, 3])
  const unknown = followingNode()
  answer(unknown, 2, fetchAnswer({ epoch: 6, errorCode: ErrorCode.fencedLeaderEpoch }))
  assert.deepEqual([unknown.quorum?.role, unknown.quorum?.epoch], ['unattached', 6])
})

test('an unattached node asks around, and goes on with what the leader answers', () => {
  const node = loneNode()
  const sent = lastOf(node, 'send')!
  node.handle({
    type: 'response',
    correlationId: sent.correlationId,
    ...fetchAnswer({ epoch: 3, leaderId: 2 }),
    batches: [batch(10, 10, 3)],
  })
  assert.deepEqual([node.quorum?.role, node.quorum?.leaderId], ['follower', 2])
  assert.equal(lastOf(node, 'appendFetched')?.baseOffset, 10)
})

test('the replica names itself in a fetch by id and directory', () => {
  const sent = lastOf(followingNode(), 'send')
  assert.ok(sent?.api === 'fetch')
  assert.equal(sent.request.replicaState.replicaId, 1)
  assert.equal(sent.request.topics[0].partitions[0].replicaDirectoryId, directoryOf(1))
})
