import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reached } from './simulation/checker.ts'
import { run } from './simulation/run.ts'

/** `RAFT_SEEDS=1000-2000` runs other seeds; a run that fails names its seed. */
const [first, last] = (process.env.RAFT_SEEDS ?? '1-100').split('-').map(Number)

test('replicas under faults keep every invariant and agree once healed', () => {
  const reached: Partial<Reached> = {}
  for (let seed = first; seed <= (last ?? first); seed++) {
    try {
      const result = run(seed)
      for (const [name, count] of Object.entries(result.reached)) {
        reached[name as keyof Reached] = (reached[name as keyof Reached] ?? 0) + count
      }
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error })
    }
  }
  if (process.env.RAFT_SEEDS !== undefined) console.log(reached)
  else
    for (const [name, count] of Object.entries(reached)) assert.ok(name === 'halts' || count > 100, `${name}: ${count}`)
})

test('one seed gives one run', () => {
  for (const seed of [1, 2, 3, 6, 7]) assert.deepEqual(run(seed), run(seed))
})
