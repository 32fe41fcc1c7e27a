import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiKey } from '../../protocol/apis.ts'
import { type Asked, RequestTurns, type TurnTaker } from './request-turns.ts'

const { produce, metadata, heartbeat, fetch } = ApiKey
const largeBytes = 40_000

function first(apiKey: number, bytes = 100): Asked {
  return { apiKey, bytes, isFirst: true, isAwaited: false }
}

class Fixture {
  isMemoryShort = false
  isMemoryUsedUp = false
  nowMs = 0
  #planned: (() => void)[] = []
  readonly turns = new RequestTurns({
    nextTurn: callback => this.#planned.push(callback),
    nowMs: () => this.nowMs,
    isMemoryShort: () => this.isMemoryShort,
    isMemoryUsedUp: () => this.isMemoryUsedUp,
  })
  /** What was worked on, and where a turn ended. */
  readonly order: string[] = []

  /** A client with so many requests, of which each is answered at once. */
  client(name: string, apiKey: number, answerBytes: number, count = 1, isAwaited = false): TurnTaker {
    let left = count
    const run = () => {
      for (let isFirst = true; left > 0; isFirst = false) {
        const asked = { apiKey, bytes: 100, isFirst: isFirst && left === count, isAwaited }
        if (!this.turns.admits(taker, asked)) return
        left--
        this.order.push(name)
        this.turns.answered(apiKey, answerBytes, 0)
      }
    }
    const taker = { turnCame: run }
    run()
    return taker
  }

  turn(): void {
    for (const callback of this.#planned.splice(0)) callback()
  }
}

test('requests with large answers share a turn, one of each connection, in the order in which they came', () => {
  const at = new Fixture()
  at.client('first', metadata, largeBytes)
  at.order.length = 0
  for (const name of ['a', 'b', 'c', 'd']) at.client(name, metadata, largeBytes, 2)
  assert.deepEqual(at.order, ['a'], 'and the rest of the turn is used up')
  at.order.length = 0
  for (const expected of [['a', 'b'], ['c', 'd'], ['b', 'c'], ['d'], []]) {
    at.turn()
    assert.deepEqual(at.order.splice(0), expected)
  }
})

test('small requests and produces go before, however many large ones wait', () => {
  const at = new Fixture()
  for (let i = 0; i < 10; i++) at.client('large', metadata, largeBytes)
  at.order.length = 0
  for (let i = 0; i < 1000; i++) at.client('beat', heartbeat, 20)
  at.client('produce', produce, 40, 100)
  assert.equal(at.order.length, 1100)
})

test('what one client sends behind another request waits for its turn when a turn is used up', () => {
  const at = new Fixture()
  at.client('eager', heartbeat, 20, 1000)
  const inFirstTurn = at.order.length
  assert.ok(inFirstTurn < 100, `${inFirstTurn}`)
  at.client('patient', heartbeat, 20)
  assert.equal(at.order.at(-1), 'patient')
  for (let i = 0; i < 20; i++) at.turn()
  assert.equal(at.order.length, 1001)
})

test('large answers wait while memory is short, small ones do not, and go on when there is room', () => {
  const at = new Fixture()
  at.client('large', metadata, largeBytes)
  at.isMemoryShort = true
  at.order.length = 0
  at.client('waits', metadata, largeBytes)
  const gone = at.client('gone', metadata, largeBytes)
  at.client('small', heartbeat, 20)
  for (let i = 0; i < 5; i++) at.turn()
  assert.deepEqual(at.order, ['small'])
  assert.equal(at.turns.largeWaitingCount, 2)
  at.turns.forget(gone)
  at.isMemoryShort = false
  at.turns.roomAgain()
  at.turn()
  assert.deepEqual(at.order, ['small', 'waits'])
})

test('who waits for the answer before it asks again goes beside the others, not behind them, also while memory is short', () => {
  const at = new Fixture()
  for (let i = 0; i < 100; i++) at.client('crowd', metadata, largeBytes, 10)
  at.order.length = 0
  at.client('patient', metadata, largeBytes, 1, true)
  at.turn()
  assert.deepEqual(at.order, ['patient', 'crowd'])
  at.isMemoryShort = true
  at.turn()
  at.order.length = 0
  at.client('patient', metadata, largeBytes, 1, true)
  at.turn()
  assert.deepEqual(at.order, ['patient'])
  at.isMemoryUsedUp = true
  at.client('late', metadata, largeBytes, 1, true)
  const gone = at.client('gone', metadata, largeBytes, 1, true)
  for (let turns = 0; turns < 3; turns++) at.turn()
  assert.deepEqual(at.order, ['patient'])
  at.turns.forget(gone)
  at.isMemoryUsedUp = false
  at.turns.roomAgain()
  at.turn()
  assert.deepEqual(at.order, ['patient', 'late'])
})

test('each queue has its share of a turn, though one request of another costs more than a turn', () => {
  const at = new Fixture()
  const hugeBytes = 300_000
  at.client('first', metadata, hugeBytes, 1, true)
  at.order.length = 0
  for (let i = 0; i < 5; i++) at.client('patient', metadata, hugeBytes, 100, true)
  at.client('eager', metadata, hugeBytes, 2)
  for (let i = 0; i < 2; i++) at.client('beats', heartbeat, 20, 100)
  at.order.length = 0
  for (let turns = 0; turns < 2; turns++) {
    at.turn()
    for (const name of ['patient', 'eager', 'beats']) assert.ok(at.order.includes(name), `${name} in turn ${turns}`)
    at.order.length = 0
  }
})

test('who was let in otherwise waits no more where it had waited', () => {
  const at = new Fixture()
  at.turns.answered(metadata, largeBytes, 0)
  at.turn()
  at.isMemoryShort = true
  const taker = { turnCame: () => at.order.push('came') }
  assert.ok(!at.turns.admits(taker, first(metadata)))
  // It has read its answers meanwhile.
  assert.ok(at.turns.admits(taker, { ...first(metadata), isAwaited: true }))
  assert.equal(at.turns.largeWaitingCount, 0)
  at.isMemoryShort = false
  at.turns.roomAgain()
  at.turn()
  assert.deepEqual(at.order, [])
})

test('bytes that were not encoded cost no turn, and wait for memory all the same', () => {
  const at = new Fixture()
  for (let i = 0; i < 20; i++) {
    const taker = { turnCame: () => at.order.push('fetch') }
    assert.ok(at.turns.admits(taker, first(fetch)))
    at.turns.answered(fetch, 100, 50_000)
  }
  at.isMemoryShort = true
  const waits = { turnCame: () => at.order.push('waits') }
  assert.ok(!at.turns.admits(waits, first(fetch)))
  at.isMemoryShort = false
  at.turns.roomAgain()
  at.turn()
  assert.deepEqual(at.order, ['waits'])
})

test('requests that are large themselves take turns from the first one on, whenever they are answered', () => {
  const at = new Fixture()
  const begun: number[] = []
  const takers = Array.from({ length: 10 }, (_, index) => {
    const taker: TurnTaker = {
      turnCame: () => {
        if (at.turns.admits(taker, first(metadata, 30_000))) begun.push(index)
      },
    }
    return taker
  })
  for (const taker of takers) taker.turnCame()
  assert.deepEqual(begun, [0, 1, 2])
  at.turn()
  assert.deepEqual(begun, [0, 1, 2, 3, 4, 5])
})

test('after a turn that has taken long there is one more a turn, whatever they were thought to cost', () => {
  const at = new Fixture()
  for (const name of ['a', 'b', 'c', 'd', 'e']) at.client(name, heartbeat, 20, 40)
  at.order.length = 0
  for (let turns = 0; turns < 5; turns++) {
    at.nowMs += 50
    at.turn()
  }
  assert.equal(at.order.length, 5)
  at.turn()
  assert.ok(at.order.length > 15)
})

test('an API is expected to answer little again after some small answers', () => {
  const at = new Fixture()
  at.turns.answered(metadata, largeBytes, 0)
  at.isMemoryShort = true
  const taker = { turnCame: () => {} }
  assert.ok(!at.turns.admits(taker, first(metadata)))
  at.turns.forget(taker)
  for (let i = 0; i < 20; i++) at.turns.answered(metadata, 100, 0)
  assert.ok(at.turns.admits(taker, first(metadata)))
})

test('keys that no API has are nobody special', () => {
  const at = new Fixture()
  const taker = { turnCame: () => {} }
  for (const key of [-1, 32_767, -32_768, 500]) assert.ok(at.turns.admits(taker, first(key)))
})
