import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AssertionFailure } from '../base/assert.ts'
import type { Lease } from '../base/lease.ts'
import { MemoryBudget } from './memory-budget.ts'

function budget(capacityBytes: number): MemoryBudget {
  return new MemoryBudget({ capacityBytes, maxUnusedBytes: 1 << 20, poison: true })
}

const refuse = () => assert.fail('nothing was to be granted later')

test('frames wait in order when the budget is used up, and are granted as it frees', () => {
  const memory = budget(100)
  const first = memory.lease(60, refuse)!
  const second = memory.lease(40, refuse)!
  const granted: number[] = []
  assert.equal(
    memory.lease(50, () => granted.push(50)),
    undefined,
  )
  assert.equal(
    memory.lease(1, () => granted.push(1)),
    undefined,
    'nobody overtakes',
  )
  second.release()
  assert.deepEqual(granted, [])
  first.release()
  assert.deepEqual(granted, [50, 1])
  assert.equal(memory.usedBytes, 51)
})

test('a frame larger than the budget is taken when nothing else is held', () => {
  const memory = budget(100)
  const small = memory.lease(1, refuse)!
  let large: Lease | undefined
  memory.lease(500, lease => {
    large = lease
  })
  assert.equal(large, undefined)
  small.release()
  assert.ok(large!.bytes.length >= 500)
})

test('what is held otherwise does not keep the first frame waiting for ever', () => {
  const memory = budget(100)
  memory.hold(200)
  const first = memory.lease(50, refuse)!
  let second: Lease | undefined
  memory.lease(50, lease => {
    second = lease
  })
  assert.equal(second, undefined)
  first.release()
  assert.ok(second)
})

test('memory that is given back while memory is granted goes to the next in the queue, not deeper into the stack', () => {
  const memory = budget(100)
  const first = memory.lease(100, refuse)!
  let depth = 0
  let deepest = 0
  let granted = 0
  for (let i = 0; i < 5000; i++) {
    memory.lease(100, lease => {
      granted++
      deepest = Math.max(deepest, ++depth)
      lease.release()
      depth--
    })
  }
  first.release()
  assert.deepEqual([granted, deepest, memory.usedBytes], [5000, 1, 0])
})

test('frames that are arriving come before those that have hardly begun, and those are not forgotten', () => {
  const memory = budget(100)
  const first = memory.lease(100, refuse)!
  const order: string[] = []
  const wait = (name: string, arrivedBytes: number) =>
    memory.lease(
      100,
      lease => {
        order.push(name)
        lease.release()
      },
      arrivedBytes,
    )
  for (let i = 0; i < 3; i++) wait(`idle ${i}`, 4)
  for (let i = 0; i < 5; i++) wait(`eager ${i}`, 100)
  first.release()
  assert.deepEqual(order, ['eager 0', 'eager 1', 'eager 2', 'idle 0', 'eager 3', 'eager 4', 'idle 1', 'idle 2'])
})

test('whoever leaves the queue does not keep those behind it waiting', () => {
  const memory = budget(100)
  const held = memory.lease(60, refuse)!
  memory.lease(90, refuse)
  let granted = 0
  const small = () => granted++
  memory.lease(30, small)
  memory.forget(refuse)
  assert.equal(granted, 1)
  held.release()
})

test('a lease that was given back is poisoned or freed, and cannot be given back again', () => {
  const memory = budget(1 << 20)
  const kept = memory.lease(20_000, refuse)!
  kept.release()
  assert.equal(kept.bytes[0], 0xdb)
  const lease = memory.lease(10, refuse)!
  lease.release()
  assert.equal(lease.bytes.length, 0)
  assert.throws(() => lease.release(), AssertionFailure)
})

test('slabs are used again, up to the limit of the cache', () => {
  const memory = budget(1 << 30)
  const first = memory.lease(20_000, refuse)!
  const { bytes } = first
  first.release()
  assert.equal(memory.lease(40_000, refuse)!.bytes, bytes)
  const large = memory.lease(2 << 20, refuse)!
  const largeBytes = large.bytes
  large.release()
  assert.notEqual(memory.lease(2 << 20, refuse)!.bytes, largeBytes)
})

test('what counts is the memory that a frame gets, and a small one gets no more than it needs', () => {
  const memory = budget(1 << 20)
  const small = memory.lease(1000, refuse)!
  assert.deepEqual([small.bytes.length, memory.usedBytes], [1000, 1000])
  const large = memory.lease(20_000, refuse)!
  assert.equal(memory.usedBytes, 1000 + large.bytes.length)
  small.release()
  large.release()
  assert.equal(memory.usedBytes, 0)
  assert.equal(memory.lease(1000, refuse)!.bytes.length, 1000, 'not the slab that lies ready')
})

test('a copy counts as the memory that it gets, whether there is room or not', () => {
  const memory = budget(100_000)
  memory.hold(100_000)
  const small = memory.copy(Buffer.from('text'))
  assert.deepEqual([small.bytes.toString(), memory.usedBytes], ['text', 100_004])
  const large = memory.copy(Buffer.alloc(20_000, 7))
  assert.deepEqual([large.bytes.length, large.bytes[19_999], memory.usedBytes], [20_000, 7, 100_004 + 65_536])
  small.release()
  large.release()
  assert.equal(memory.usedBytes, 100_000)
})

test('what may be held beyond the capacity is a quarter of it, and no more than 32 MiB', () => {
  const memory = budget(1 << 30)
  memory.hold((1 << 30) + (32 << 20))
  assert.ok(!memory.isOverdrawn)
  memory.hold(1)
  assert.ok(memory.isOverdrawn)
  const small = budget(100)
  small.hold(126)
  assert.ok(small.isOverdrawn)
})

test('slabs that are not used for long are given back, those that are used and some more are kept', () => {
  const memory = budget(1 << 30)
  const slabs = Array.from({ length: 40 }, () => memory.takeSlab(1 << 16))
  for (const slab of slabs) memory.giveSlab(slab)
  const countKept = () => {
    const taken = Array.from({ length: 40 }, () => memory.takeSlab(1 << 16))
    for (const slab of taken) memory.giveSlab(slab)
    return taken.filter(slab => slabs.includes(slab)).length
  }
  memory.giveBackUnused()
  assert.equal(countKept(), 40)
  memory.giveBackUnused()
  assert.equal(countKept(), 40, 'all were used')
  for (let i = 0; i < 10; i++) memory.giveBackUnused()
  assert.equal(countKept(), 16)
})

test('slabs that are not kept are freed at once', () => {
  const memory = budget(1 << 20)
  const slabs = Array.from({ length: 40 }, () => memory.takeSlab(1 << 16))
  for (const slab of slabs) memory.giveSlab(slab)
  const keptBytes = slabs.reduce((sum, slab) => sum + slab.buffer.byteLength, 0)
  assert.equal(keptBytes, 1.25 * (1 << 20))
  const large = memory.takeSlab(2 << 20)
  memory.giveSlab(large)
  assert.equal(large.length, 0)
})

test('what lies ready and what is used come to no more than may be used', () => {
  const memory = budget(4 << 20)
  const slabs = Array.from({ length: 60 }, () => memory.takeSlab(1 << 16))
  for (const slab of slabs) memory.giveSlab(slab)
  memory.hold(2 << 20)
  const large = memory.takeSlab(1 << 20)
  memory.hold(large.length)
  const taken = Array.from({ length: 60 }, () => memory.takeSlab(1 << 16))
  assert.equal(taken.filter(slab => slabs.includes(slab)).length, 32)
})

test('bytes held by answers count, and keep frames waiting', () => {
  const memory = budget(100)
  const lease = memory.lease(1, refuse)!
  memory.hold(99)
  let granted = false
  memory.lease(10, () => {
    granted = true
  })
  assert.equal(granted, false)
  memory.letGo(99)
  assert.equal(granted, true)
  lease.release()
})
