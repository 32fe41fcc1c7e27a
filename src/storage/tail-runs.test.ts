import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../records/seeded-random.ts'
import { type TailRun, TailRuns } from './tail-runs.ts'

test('runs are kept in order, however many come and go at either end', () => {
  const random = new SeededRandom(1)
  const runs = new TailRuns()
  const model: TailRun[] = []
  let offset = 2 ** 40
  for (let step = 0; step < 20_000; step++) {
    const choice = random.below(100)
    if (choice < 52 || model.length === 0) {
      const run = {
        ...{ baseOffset: offset, endOffset: offset + 1 + random.below(3), segmentBaseOffset: random.below(9) },
        ...{ position: step * 1000, chunkId: step, start: random.below(1000), length: 1 + random.below(1000) },
      }
      runs.push(run)
      model.push(run)
      offset = run.endOffset + random.below(2)
    } else if (choice < 75) assert.equal(runs.dropFirst(), model.shift()!.length)
    else if (choice < 85) assert.equal(runs.dropLast(), model.pop()!.length)
    else if (choice < 99) {
      const last = model.pop()!
      model.push({ ...last, endOffset: last.endOffset + 1, length: last.length + 7 })
      runs.extendLast(last.endOffset + 1, 7)
      offset = Math.max(offset, last.endOffset + 1)
    } else {
      runs.clear()
      model.length = 0
    }
    assert.equal(runs.length, model.length)
    if (model.length === 0) continue
    const index = random.below(model.length)
    assert.deepEqual(runs.at(index), model[index])
    assert.equal(runs.get(index, 'endOffset'), model[index]!.endOffset)
    const asked = model[0]!.baseOffset - 1 + random.below(offset - model[0]!.baseOffset + 2)
    assert.equal(
      runs.floor(asked),
      model.findLastIndex(run => run.baseOffset <= asked),
    )
  }
})

test('memory of many runs is given back when they go', () => {
  const run = { baseOffset: 0, endOffset: 1, segmentBaseOffset: 0, position: 0, chunkId: 0, start: 0, length: 70 }
  const drops = [(runs: TailRuns) => runs.dropFirst(), (runs: TailRuns) => runs.dropLast()]
  for (const drop of drops) {
    const runs = new TailRuns()
    const { capacity } = runs
    for (let count = 0; count < 15_000; count++) runs.push(run)
    assert.ok(runs.capacity >= 15_000)
    while (runs.length > 100) drop(runs)
    assert.ok(runs.capacity < 1000, `${runs.capacity}`)
    runs.clear()
    assert.equal(runs.capacity, capacity)
  }
})
