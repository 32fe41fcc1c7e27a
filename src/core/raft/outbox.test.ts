import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zeroUuid } from '../../base/uuid.ts'
import type { QuorumEffect } from './events.ts'
import { Outbox } from './outbox.ts'

const state = (leaderEpoch: number) => ({ leaderId: -1, leaderEpoch, votedId: -1, votedDirectoryId: zeroUuid })
const reply = (requestId: number): QuorumEffect => ({
  type: 'reply',
  requestId,
  api: 'removeRaftVoter',
  response: { throttleTimeMs: 0, errorCode: 0, errorMessage: null },
})
const typesOf = (effects: QuorumEffect[]) =>
  effects.map(effect => (effect.type === 'reply' ? `reply ${effect.requestId}` : effect.type))

test('messages wait for the quorum state they rest on, other effects do not', () => {
  const outbox = new Outbox()
  outbox.push(reply(1))
  outbox.persist(state(1), 1)
  outbox.push(reply(2))
  outbox.push({ type: 'sync' })
  assert.deepEqual(typesOf(outbox.take()), ['persistQuorumState', 'reply 1', 'sync'])
  assert.equal(outbox.heldMessages, 1)
  assert.deepEqual(typesOf(outbox.take()), [])
  outbox.persisted()
  assert.deepEqual(typesOf(outbox.take()), ['reply 2'])
})

test('a newer state is written after the one under way, and messages wait for theirs', () => {
  const outbox = new Outbox()
  outbox.persist(state(1), 1)
  outbox.push(reply(1))
  outbox.take()
  outbox.persist(state(2), 1)
  outbox.persist(state(3), 1)
  outbox.push(reply(2))
  assert.deepEqual(outbox.take(), [])
  outbox.persisted()
  const effects = outbox.take()
  assert.deepEqual(typesOf(effects), ['persistQuorumState', 'reply 1'])
  assert.deepEqual(effects[0], { type: 'persistQuorumState', quorumState: state(3), kraftVersion: 1 })
  assert.ok(!outbox.isPersisted)
  outbox.persisted()
  assert.deepEqual(typesOf(outbox.take()), ['reply 2'])
  assert.ok(outbox.isPersisted)
})

test('states of one turn are one write', () => {
  const outbox = new Outbox()
  outbox.persist(state(1), 1)
  outbox.persist(state(2), 1)
  assert.deepEqual(outbox.take(), [{ type: 'persistQuorumState', quorumState: state(2), kraftVersion: 1 }])
})

test('nothing leaves a node that halts but the reason', () => {
  const outbox = new Outbox()
  outbox.push(reply(1))
  outbox.persist(state(1), 1)
  outbox.push(reply(2))
  outbox.halt('why')
  outbox.push(reply(3))
  outbox.halt('again')
  assert.deepEqual(outbox.take(), [{ type: 'halt', reason: 'why' }])
})

test('a write that nobody asked for is a bug of the shell', () => {
  assert.throws(() => new Outbox().persisted(), /open/)
})
