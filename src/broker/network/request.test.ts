import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameReader } from '../../channel/frame-reader.ts'
import { MemoryBudget } from '../memory-budget.ts'
import { AnswerMemory } from './answer-memory.ts'
import { Request, type RequestOwner } from './request.ts'

/** A request of some bytes, inside its handler's call. */
function handle(handler: (request: Request, budget: MemoryBudget) => void): void {
  const budget = new MemoryBudget({ capacityBytes: 1 << 20, maxUnusedBytes: 1 << 20, poison: true })
  const owner: RequestOwner = {
    remoteAddress: '127.0.0.1',
    listenerName: 'PLAINTEXT',
    localPort: 9092,
    answers: new AnswerMemory(budget, () => {}),
    clientSoftware: { name: 'unknown', version: 'unknown' },
    answered: () => {},
    keepFrame: () => reader.keep(),
    warn: () => {},
    destroy: () => {},
  }
  const header = { apiKey: 0, apiVersion: 0, correlationId: 1, clientId: '' }
  const reader = new FrameReader({
    maxFrameBytes: 1000,
    memory: budget,
    frame: bytes => {
      handler(new Request(owner, header, bytes, { monotonicMs: 0, wallMs: 0 }), budget)
      return 'taken'
    },
    failed: () => assert.fail('the frame is good'),
    pause: () => {},
    resume: () => {},
  })
  reader.received(Buffer.from('\0\0\0\x04text', 'latin1'))
}

test('what a request keeps is there until the answer is given', () => {
  let handled = 0
  handle((request, budget) => {
    const kept = request.keep(request.body)
    assert.equal(kept.toString(), 'text')
    assert.equal(budget.usedBytes, 4)
    request.replyNothing()
    assert.deepEqual([kept.length, budget.usedBytes], [0, 0])
    handled++
  })
  assert.equal(handled, 1)
})

test('what is pinned outlives the answer, until the last who reads it is done', () => {
  let handled = 0
  handle((request, budget) => {
    const kept = request.keep(request.body)
    const unpin = request.pin()
    const unpinOther = request.pin()
    request.replyNothing()
    unpin()
    unpin()
    assert.deepEqual([kept.toString(), budget.usedBytes], ['text', 4])
    unpinOther()
    assert.deepEqual([kept.length, budget.usedBytes], [0, 0])
    handled++
  })
  assert.equal(handled, 1)
})
