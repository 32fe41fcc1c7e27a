import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AssertionFailure } from '../../base/assert.ts'
import { MemoryBudget } from '../memory-budget.ts'
import { type AnswerHold, AnswerMemory } from './answer-memory.ts'

const capacityBytes = 1024 * 1024
const chunkBytes = 64 * 1024

class Fixture {
  readonly budget = new MemoryBudget({ capacityBytes, maxUnusedBytes: capacityBytes, poison: true })
  rooms = 0
  readonly answers = new AnswerMemory(this.budget, () => this.rooms++)

  answer(bytes: number): { readonly hold: AnswerHold; readonly bytes: Buffer } {
    const { writer } = this.answers
    for (let i = 0; i < bytes; i++) writer.int8(1)
    const parts = writer.finish().parts as Buffer[]
    return { hold: this.answers.hold(parts), bytes: parts[0] }
  }
}

test('an answer that is not sent keeps its whole chunk, and no other is counted', () => {
  const at = new Fixture()
  const unread = at.answer(100)
  const read = at.answer(chunkBytes - 200)
  assert.equal(at.answers.heldBytes, 0, 'the chunk that is written to is always there')
  const next = at.answer(1000)
  assert.equal(at.answers.heldBytes, chunkBytes)
  at.answers.release(read.hold)
  assert.equal(at.answers.heldBytes, chunkBytes)
  assert.equal(at.budget.usedBytes, chunkBytes)
  at.answers.release(unread.hold)
  at.answers.release(next.hold)
  assert.deepEqual([at.answers.heldBytes, at.budget.usedBytes], [0, 0])
})

test('the memory of answers is used again once all that lie in it are sent, and not before', () => {
  const at = new Fixture()
  const first = at.answer(chunkBytes - 100)
  const second = at.answer(chunkBytes - 100)
  assert.equal(first.bytes[0], 1)
  at.answers.release(first.hold)
  assert.equal(first.bytes[0], 0xdb, 'poisoned')
  const third = at.answer(chunkBytes - 100)
  assert.equal(third.bytes.buffer, first.bytes.buffer)
  assert.notEqual(second.bytes.buffer, first.bytes.buffer)
  assert.equal(second.bytes[0], 1)
})

test('a long answer moves to a larger chunk whole, and what it has left is used again', () => {
  const at = new Fixture()
  const long = at.answer(5 * chunkBytes)
  assert.equal(long.bytes.length, 5 * chunkBytes)
  assert.ok(long.bytes.every(byte => byte === 1))
  assert.equal(at.answers.heldBytes, 0)
  at.answers.release(long.hold)
  assert.throws(() => at.answers.release(long.hold), AssertionFailure)
})

test('long byte strings count by themselves, at once', () => {
  const at = new Fixture()
  at.answers.writer.raw(Buffer.alloc(5000))
  const hold = at.answers.hold(at.answers.writer.finish().parts as Buffer[])
  assert.deepEqual([at.answers.heldBytes, hold.encodedBytes, hold.otherBytes], [5000, 0, 5000])
  at.answers.release(hold)
  assert.equal(at.budget.usedBytes, 0)
})

test('what was copied for one answer is freed when it was sent, what belongs to others is not', () => {
  const at = new Fixture()
  const { writer } = at.answers
  const copied = Buffer.allocUnsafeSlow(5000)
  writer.raw(copied)
  const own = at.answers.hold(writer.finish().parts as Buffer[], true)
  const shared = Buffer.allocUnsafeSlow(5000)
  writer.raw(shared)
  const other = at.answers.hold(writer.finish().parts as Buffer[])
  assert.equal(copied.length, 5000)
  at.answers.release(own)
  at.answers.release(other)
  assert.deepEqual([copied.length, shared.length], [0, 5000])
})

test('answers have half of the budget, an eighth whatever frames hold, and whoever waits is told of room once', () => {
  const at = new Fixture()
  const holds: AnswerHold[] = []
  const unsent = (bytes: number) => {
    at.answers.writer.raw(Buffer.alloc(bytes))
    holds.push(at.answers.hold(at.answers.writer.finish().parts as Buffer[]))
  }
  unsent(capacityBytes / 2 - 1)
  assert.ok(!at.answers.isShort)
  unsent(3000)
  assert.ok(at.answers.isShort)
  at.answers.release(holds.pop()!)
  assert.equal(at.rooms, 1)
  at.answers.release(holds.pop()!)
  assert.equal(at.rooms, 1, 'nobody has waited since')

  unsent(600 * 1024)
  assert.ok(at.answers.isShort && !at.answers.isUsedUp)
  unsent(40 * 1024)
  assert.ok(at.answers.isUsedUp, 'also for those who read')
  for (const hold of holds.splice(0)) at.answers.release(hold)
  at.rooms = 1

  at.budget.hold(capacityBytes)
  unsent(capacityBytes / 8 - 1)
  assert.ok(!at.answers.isShort)
  unsent(3000)
  assert.ok(at.answers.isShort)
  at.budget.hold(capacityBytes / 4)
  assert.ok(at.budget.isOverdrawn && !at.answers.isUsedUp)
  unsent(capacityBytes / 16)
  assert.ok(at.answers.isUsedUp)
  at.answers.release(holds.pop()!)
  assert.equal(at.rooms, 2, 'for those who read')
  at.budget.letGo(capacityBytes / 4)
  at.budget.letGo(capacityBytes)
  assert.equal(at.rooms, 2, 'others do not tell')
  at.answers.lookForRoom()
  assert.equal(at.rooms, 3)
})

test('those who read are told of their room, though the others have none yet', () => {
  const at = new Fixture()
  const unsent = (bytes: number) => {
    at.answers.writer.raw(Buffer.alloc(bytes))
    return at.answers.hold(at.answers.writer.finish().parts as Buffer[])
  }
  const kept = unsent(600 * 1024)
  const read = unsent(100 * 1024)
  assert.ok(at.answers.isUsedUp)
  at.answers.release(read)
  assert.deepEqual([at.rooms, at.answers.isUsedUp, at.answers.isShort], [1, false, true])
  at.answers.lookForRoom()
  assert.equal(at.rooms, 1, 'once')
  at.answers.release(kept)
  assert.equal(at.rooms, 2, 'and the others when they have some')
})
