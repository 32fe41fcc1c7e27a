import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../seeded-random.ts'
import { clearOffsetMap, createOffsetMap, OffsetMap, offsetMapBytes, offsetMapUsage } from './offset-map.ts'

const options = { loadFactor: 0.75, seed: [1, 2, 3, 4] as const }

/** Hashes as the map gets them, from any numbers. */
function hashes(...numbers: number[]): Int32Array {
  return new Int32Array(numbers.flatMap(number => [Math.imul(number, 0x9e3779b1), number, 0, 7]))
}

function find(map: OffsetMap, ...numbers: number[]): number[] {
  const found = new Float64Array(numbers.length)
  map.find(hashes(...numbers), numbers.length, found)
  return [...found]
}

test('a map is as large as what can come needs, and no larger than it may be', () => {
  assert.equal(offsetMapBytes({ maxBytes: 1_000_000, loadFactor: 0.5, maxKeys: 100 }), 64 + 24 * 201)
  assert.equal(offsetMapBytes({ maxBytes: 1000, loadFactor: 0.5, maxKeys: 1e12 }), 64 + 24 * 39)
  assert.equal(offsetMapBytes({ maxBytes: 0, loadFactor: 1, maxKeys: 0 }), 64 + 24 * 2)
  for (const maxKeys of [1, 2, 3, 10, 1000, 12345]) {
    for (const loadFactor of [0.1, 0.75, 0.9, 1]) {
      const bytes = offsetMapBytes({ maxBytes: 1e9, loadFactor, maxKeys })
      assert.ok(offsetMapUsage(createOffsetMap({ bytes, ...options, loadFactor })).maxEntries >= maxKeys)
    }
  }
})

test('the last offset of a key is found, also beyond 2^32, and no offset of another', () => {
  const map = new OffsetMap(createOffsetMap({ bytes: 1000, ...options }))
  const base = 2 ** 52 + 2 ** 32 - 2
  assert.equal(map.put(hashes(1, 2, 1, 3), base, new Int32Array([0, 1, 2, 3]), 4), 4)
  assert.deepEqual(find(map, 1, 2, 3, 4), [base + 2, base + 1, base + 3, -1])
  map.put(hashes(2), 5, new Int32Array([0]), 1)
  assert.deepEqual(find(map, 2), [5])
})

test('hashes that differ in one word only are different keys', () => {
  const map = new OffsetMap(createOffsetMap({ bytes: 1000, ...options }))
  const words = [9, 9, 9, 9]
  for (let word = 0; word < 4; word++) {
    map.put(new Int32Array(words.with(word, 8)), word, new Int32Array(1), 1)
  }
  const found = new Float64Array(5)
  map.find(new Int32Array([8, 9, 9, 9, 9, 8, 9, 9, 9, 9, 8, 9, 9, 9, 9, 8, 9, 9, 9, 9]), 5, found)
  assert.deepEqual([...found], [0, 1, 2, 3, -1])
})

test('a full map says how many it took, and keeps what it has', () => {
  const memory = createOffsetMap({ bytes: 64 + 24 * 8, ...options })
  const map = new OffsetMap(memory)
  const deltas = new Int32Array(10).map((_, index) => index)
  assert.equal(map.put(hashes(1, 2, 3, 1, 2, 4, 5, 6, 7, 8), 100, deltas, 10), 8)
  assert.deepEqual(offsetMapUsage(memory), { entries: 6, maxEntries: 6 })
  assert.equal(map.put(hashes(1), 200, deltas, 1), 0)
  assert.deepEqual(find(map, 1, 2, 3, 4, 5, 6, 7), [103, 104, 102, 105, 106, 107, -1])
})

test('a map can be filled to all but one of its entries, and every search ends', () => {
  const memory = createOffsetMap({ bytes: 64 + 24 * 50, loadFactor: 1, seed: [0, 0, 0, 0] })
  const map = new OffsetMap(memory)
  // All but the first want the last place, and go on from the first.
  const words = new Int32Array(4 * 60)
  for (let index = 1; index < 60; index++) words.set([-1, index, 0, 0], 4 * index)
  assert.equal(
    map.put(
      words,
      0,
      new Int32Array(60).map((_, index) => index),
      60,
    ),
    49,
  )
  const found = new Float64Array(60)
  map.find(words, 60, found)
  assert.deepEqual(
    [...found],
    [...found.keys()].map(index => (index < 49 ? index : -1)),
  )
})

test('a cleared map is empty', () => {
  const memory = createOffsetMap({ bytes: 1000, ...options })
  new OffsetMap(memory).put(hashes(1), 3, new Int32Array(1), 1)
  clearOffsetMap(memory, { ...options, seed: [5, 6, 7, 8] })
  assert.equal(offsetMapUsage(memory).entries, 0)
  assert.deepEqual(find(new OffsetMap(memory), 1), [-1])
})

test('memory may hold one map after another, of any size: none of them sees what was in those before', () => {
  const memory = new SharedArrayBuffer(64 + 24 * 40)
  for (let round = 0; round < 5000; round++) {
    const bytes = 64 + 24 * (10 + (round % 31))
    clearOffsetMap(memory, { ...options, bytes })
    assert.equal(offsetMapUsage(memory).maxEntries, Math.floor((10 + (round % 31)) * 0.75))
    const map = new OffsetMap(memory)
    const keys = [round, round + 1, round + 2]
    assert.deepEqual(find(map, round - 1, ...keys), [-1, -1, -1, -1])
    assert.equal(map.put(hashes(...keys), 2 ** 53 - 10, new Int32Array([0, 1, round % 9]), 3), 3)
    assert.deepEqual(find(map, round - 1, ...keys), [-1, 2 ** 53 - 10, 2 ** 53 - 9, 2 ** 53 - 10 + (round % 9)])
  }
})

test('a map has what a Map has', () => {
  const random = new SeededRandom(1)
  for (let round = 0; round < 20; round++) {
    const memory = createOffsetMap({ bytes: 64 + 24 * (2 + random.below(3000)), ...options, loadFactor: 0.9 })
    const map = new OffsetMap(memory)
    const expected = new Map<number, number>()
    for (let offset = 0; offset < 5000; offset++) {
      const number = random.below(4000)
      if (map.put(hashes(number), offset, new Int32Array(1), 1) === 0) break
      expected.set(number, offset)
    }
    assert.equal(offsetMapUsage(memory).entries, expected.size)
    const numbers = Array.from({ length: 4000 }, (_, index) => index)
    assert.deepEqual(
      find(map, ...numbers),
      numbers.map(number => expected.get(number) ?? -1),
    )
  }
})

test('a map uses no more of its memory than its keys need, and has all of them as it grows', () => {
  const memory = createOffsetMap({ bytes: 64 + 24 * 1_000_000, ...options, loadFactor: 0.9 })
  const key = (index: number) => [Math.imul(index, 0x9e3779b1), index, index >>> 3, 7]
  for (let from = 0; from < 300_000; from += 500) {
    // Every job has a view of its own.
    const map = new OffsetMap(memory)
    const batch = new Int32Array(Array.from({ length: 500 }, (_, index) => key(from + index)).flat())
    assert.equal(
      map.put(
        batch,
        2 ** 40 + from,
        new Int32Array(500).map((_, index) => index),
        500,
      ),
      500,
    )
    if (from === 0) assert.ok(new Int32Array(memory, memory.byteLength >> 1).every(word => word === 0))
  }
  assert.equal(offsetMapUsage(memory).entries, 300_000)
  const all = new Int32Array(Array.from({ length: 300_001 }, (_, index) => key(index)).flat())
  const found = new Float64Array(300_001)
  new OffsetMap(memory).find(all, 300_001, found)
  assert.deepEqual(
    [found[0], found[123_456], found[299_999], found[300_000]],
    [2 ** 40, 2 ** 40 + 123_456, 2 ** 40 + 299_999, -1],
  )
  assert.ok(found.subarray(0, 300_000).every((offset, index) => offset === 2 ** 40 + index))
})

test('a map that grows has what went on from its last entry to its first', () => {
  const memory = createOffsetMap({ bytes: 64 + 24 * 1_000_000, ...options, loadFactor: 0.9 })
  const many = 200_000
  // Every thousandth wants the last place.
  const key = (index: number) => [index % 1000 === 0 ? -1 : Math.imul(index, 0x9e3779b1), index, 0, 7]
  const all = new Int32Array(Array.from({ length: many }, (_, index) => key(index)).flat())
  const found = new Float64Array(many)
  for (let from = 0; from < many; from += 20_000) {
    const map = new OffsetMap(memory)
    const deltas = new Int32Array(20_000).map((_, index) => index)
    assert.equal(map.put(all.subarray(4 * from), from, deltas, 20_000), 20_000)
    map.find(all, many, found)
    assert.ok(found.every((offset, index) => offset === (index < from + 20_000 ? index : -1)))
  }
  assert.equal(offsetMapUsage(memory).entries, many)
})

test('a map has nothing of a filling that was as many fillings ago as it can count', () => {
  const memory = createOffsetMap({ bytes: 64 + 24 * 300_000, ...options })
  const many = 100_000
  const deltas = new Int32Array(many).map((_, index) => index)
  const generation = () => new Int32Array(memory)[3]
  const before = generation()
  const old = hashes(...deltas)
  assert.equal(new OffsetMap(memory).put(old, 0, deltas, many), many)
  let fillings = 0
  do {
    clearOffsetMap(memory, options)
    fillings++
  } while (generation() !== before)
  assert.ok(fillings > 1000)
  const map = new OffsetMap(memory)
  assert.equal(map.put(hashes(...deltas.map(delta => delta + many)), 0, deltas, many), many)
  const found = new Float64Array(many)
  map.find(old, many, found)
  assert.ok(found.every(offset => offset === -1))
})
