import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import type { QuorumEffect } from './events.ts'
import { responseText } from './simulation/effect-text.ts'
import { answer, followingNode, leadingNode, loneNode } from './simulation/lone-node.ts'
import { fetchAnswer, fetchSnapshotAnswer } from './simulation/peer-answers.ts'
import { beginFrom, fetchFrom, fetchSnapshotFrom } from './simulation/peer-requests.ts'
import { type Player, Scene, voterOfScene } from './simulation/scene.ts'
import { VoterSet } from './voters.ts'

const lastOf = <T extends QuorumEffect['type']>(node: Player, type: T) =>
  node.effects.findLast((effect): effect is QuorumEffect & { type: T } => effect.type === type)
const typesSince = (node: Player, from: number) => node.effects.slice(from).map(({ type }) => type)

/** A follower of node 2 that was told to fetch the snapshot 30-2 of 16 bytes. */
function fetchingNode(): Player {
  const node = followingNode()
  node.scene.snapshots.set(30, {
    id: { endOffset: 30, epoch: 2 },
    stateHash: 0,
    controlRecords: [{ type: 'kraftVoters', value: new VoterSet([1, 2].map(id => voterOfScene(id))).toRecord() }],
    bytes: Buffer.from('0123456789abcdef'),
  })
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, snapshot: [30, 2] }))
  return node
}

const piece = (position: number, bytes: string, over: { id?: [number, number]; size?: number } = {}) =>
  fetchSnapshotAnswer({ epoch: 3, leaderId: 2, id: over.id ?? [30, 2], position, size: over.size ?? 16, bytes })

test('a snapshot is fetched piece by piece and loaded when it is whole', () => {
  const node = fetchingNode()
  node.holdsDisk = true
  answer(node, 2, piece(0, '0123456789'))
  const from = node.effects.length
  node.handle({ type: 'tick' })
  // The next piece is asked for when this one is written: a slow disk does not pile up memory.
  assert.deepEqual(typesSince(node, from), [])
  node.finishDisk()
  answer(node, 2, piece(10, 'abcdef'))
  assert.equal(lastOf(node, 'loadSnapshot'), undefined)
  node.finishDisk()
  assert.deepEqual(lastOf(node, 'loadSnapshot'), {
    type: 'loadSnapshot',
    snapshotId: { endOffset: 30, epoch: 2 },
    sizeBytes: 16,
  })
  assert.equal(node.part.toString(), '0123456789abcdef')
  assert.equal(node.quorum?.highWatermark, 30)
  assert.deepEqual(
    node.quorum?.voters.voters.map(({ id }) => id),
    [1, 2],
  )
  const fetch = lastOf(node, 'send')
  assert.ok(fetch?.api === 'fetch')
  const { fetchOffset, lastFetchedEpoch } = fetch.request.topics[0].partitions[0]
  assert.deepEqual([fetchOffset, lastFetchedEpoch], [30, 2])
})

test('a piece that does not fit starts the fetch over', () => {
  const wrong = [
    piece(3, 'abc'),
    piece(0, '', {}),
    piece(0, '0123456789', { id: [31, 2] }),
    piece(0, '0123456789', { id: [30, 1] }),
    piece(0, '0123456789abcdefg'),
  ]
  for (const one of wrong) {
    const node = fetchingNode()
    answer(node, 2, one)
    assert.deepEqual(lastOf(node, 'discardSnapshot')?.snapshotId, { endOffset: 30, epoch: 2 })
    assert.equal(lastOf(node, 'writeSnapshot'), undefined)
    node.scene.advance(20)
    assert.ok(lastOf(node, 'send')?.api === 'fetch')
  }
})

test('a snapshot that changes its size on the way starts over', () => {
  const node = fetchingNode()
  answer(node, 2, piece(0, '0123456789'))
  answer(node, 2, piece(10, 'abcdef', { size: 17 }))
  assert.notEqual(lastOf(node, 'discardSnapshot'), undefined)
})

test('a snapshot that the leader no longer has is given up for whatever it has now', () => {
  for (const errorCode of [ErrorCode.snapshotNotFound, ErrorCode.positionOutOfRange]) {
    const node = fetchingNode()
    answer(node, 2, fetchSnapshotAnswer({ epoch: 3, leaderId: 2, errorCode }))
    assert.notEqual(lastOf(node, 'discardSnapshot'), undefined)
    node.scene.advance(20)
    answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, snapshot: [40, 3] }))
    assert.ok(lastOf(node, 'send')?.api === 'fetchSnapshot')
  }
})

test('a snapshot is given up too when the leader says no more than that something is wrong, as Kafka 4.4 does', () => {
  const node = fetchingNode()
  const response = { throttleTimeMs: 0, errorCode: ErrorCode.unknownServerError, topics: [], nodeEndpoints: [] }
  answer(node, 2, { api: 'fetchSnapshot', response })
  assert.notEqual(lastOf(node, 'discardSnapshot'), undefined)
  node.scene.advance(20)
  assert.ok(lastOf(node, 'send')?.api === 'fetch')
})

test('an observer whose leader falls silent in the middle of a snapshot asks others', () => {
  const bootstrapServers = [{ host: 'node-3', port: 9093 }]
  const config = { isController: false, bootstrapServers }
  const node = loneNode({ quorumState: { leaderId: 2 } }, { voters: 3, config })
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, snapshot: [30, 2] }))
  answer(node, 2, piece(0, '0123456789'))
  const from = node.effects.length
  node.scene.advance(5000)
  const sent = node.effects.slice(from).filter(effect => effect.type === 'send')
  assert.ok(sent.some(({ api, to }) => api === 'fetch' && to.type === 'bootstrap'))
})

test('another leader ends the fetch, and a piece of the old one that comes late is nothing', () => {
  const node = fetchingNode()
  answer(node, 2, piece(0, '0123456789'))
  const asked = lastOf(node, 'send')!
  node.ask(beginFrom(3, 5))
  assert.notEqual(lastOf(node, 'discardSnapshot'), undefined)
  const from = node.effects.length
  node.handle({ type: 'response', correlationId: asked.correlationId, ...piece(10, 'abcdef') })
  assert.ok(!typesSince(node, from).includes('writeSnapshot'))
})

test('a snapshot that fails its checks is forgotten, the log as it was', () => {
  const node = fetchingNode()
  node.holdsDisk = true
  answer(node, 2, piece(0, '0123456789abcdef'))
  const from = node.effects.length
  // The shell finds it damaged: it answers so instead of loading.
  node.handle({ type: 'snapshotWritten' })
  assert.deepEqual(typesSince(node, from), ['loadSnapshot'])
  node.handle({ type: 'snapshotRejected' })
  const fetch = lastOf(node, 'send')
  assert.ok(fetch?.api === 'fetch' && fetch.request.topics[0].partitions[0].fetchOffset === 10)
  assert.equal(node.quorum?.highWatermark, 0)
})

test('while a snapshot is loaded nobody campaigns, whatever happens to the leader', () => {
  const node = fetchingNode()
  node.holdsDisk = true
  answer(node, 2, piece(0, '0123456789abcdef'))
  node.handle({ type: 'snapshotWritten' })
  node.ask(beginFrom(3, 5))
  node.scene.advance(20_000)
  assert.equal(node.quorum?.role, 'follower')
  assert.ok(!node.effects.some(effect => effect.type === 'send' && effect.api === 'vote'))
})

test('a snapshot below what has committed would lose records: the node stops', () => {
  const node = followingNode()
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, highWatermark: 8 }))
  answer(node, 2, fetchAnswer({ epoch: 3, leaderId: 2, snapshot: [7, 2] }))
  assert.match(JSON.stringify(node.effects.at(-1)), /"halt".*snapshot up to 7.*committed up to 8/)
})

/* The leader's side. */

function servingNode(): Player {
  const node = leadingNode()
  node.ask(fetchFrom(2, { epoch: 4, log: [11, 4] }))
  node.takeSnapshot(Buffer.from('0123456789abcdef'))
  return node
}

test('a follower behind the log start is sent to the snapshot and gets it by position', () => {
  const node = servingNode()
  assert.match(responseText(node.ask(fetchFrom(3, { epoch: 4, log: [5, 1] }))!), /fetch snapshot 11-4/)
  assert.match(responseText(node.ask(fetchFrom(3, { epoch: 4, log: [0, 0] }))!), /fetch snapshot 11-4/)
  const at = (position: number) => node.ask(fetchSnapshotFrom(3, { epoch: 4, snapshot: [11, 4], position }))
  const first = at(0)
  assert.ok(first?.api === 'fetchSnapshot')
  const partition = first.response.topics[0].partitions[0]
  assert.deepEqual([partition.size, partition.position, partition.unalignedRecords.toString()], [16, 0, '0123456789'])
  assert.equal(responseText(at(10)!), 'snapshot 6 bytes at 10 of 16')
  assert.equal(responseText(at(16)!), `snapshot error ${ErrorCode.positionOutOfRange}`)
  assert.equal(responseText(at(-1)!), `snapshot error ${ErrorCode.positionOutOfRange}`)
})

test('a snapshot that is not there, or that formatting wrote, is not served', () => {
  const node = leadingNode()
  const textOf = (snapshot: [number, number], epoch = 4) =>
    responseText(node.ask(fetchSnapshotFrom(3, { epoch, snapshot, position: 0 }))!)
  assert.equal(textOf([11, 4]), `snapshot error ${ErrorCode.snapshotNotFound}`)
  assert.equal(textOf([0, 0]), `snapshot error ${ErrorCode.snapshotNotFound}`)
  assert.equal(textOf([11, 4], 3), `snapshot error ${ErrorCode.fencedLeaderEpoch}`)
  assert.equal(textOf([11, 4], 5), `snapshot error ${ErrorCode.unknownLeaderEpoch}`)
})

test('a snapshot that goes while it is read is not found', () => {
  const node = servingNode()
  node.holdsDisk = true
  let text: string | undefined
  node.request(fetchSnapshotFrom(3, { epoch: 4, snapshot: [11, 4], position: 0 }), reply => {
    text = responseText(reply)
  })
  node.log.snapshots.clear()
  node.finishDisk()
  assert.equal(text, `snapshot error ${ErrorCode.snapshotNotFound}`)
})

test('a follower that fetches a snapshot is alive', () => {
  const node = servingNode()
  for (let i = 0; i < 5; i++) {
    node.scene.advance(1000)
    node.ask(fetchSnapshotFrom(3, { epoch: 4, snapshot: [11, 4], position: 0 }))
  }
  assert.equal(node.quorum?.role, 'leader')
})

test('a snapshot of what has not committed is a bug of the shell', () => {
  const node = leadingNode()
  assert.throws(() => node.handle({ type: 'snapshotTaken', snapshotId: { endOffset: 11, epoch: 4 } }), /committed/)
})

test('a node whose log no snapshot covers does not start', () => {
  const scene = new Scene({ voters: 1 })
  const node = scene.player(1)
  node.log.addSnapshot(
    { id: { endOffset: 5, epoch: 1 }, stateHash: 0, controlRecords: [], bytes: Buffer.alloc(0) },
    true,
  )
  node.log.snapshots.delete(5)
  node.start()
  assert.match(JSON.stringify(node.effects), /^\[\{"type":"halt".*starts above 0 without a snapshot/)
})
