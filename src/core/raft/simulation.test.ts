import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reached } from './simulation/checker.ts'
import { run } from './simulation/run.ts'

/** `RAFT_SEEDS=1000-2000` runs other seeds (`RAFT_SEEDS=7` one of them); a run that fails names its seed. */
const [first, last = first] = (process.env.RAFT_SEEDS ?? '1-100').split('-').map(Number)

test('replicas under faults keep every invariant and agree once healed', context => {
  const reached: Partial<Reached> = {}
  for (let seed = first; seed <= last; seed++) {
    try {
      for (const [name, count] of Object.entries(run(seed).reached)) {
        reached[name as keyof Reached] = (reached[name as keyof Reached] ?? 0) + count
      }
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error })
    }
  }
  context.diagnostic(JSON.stringify(reached))
  // What is never reached is never checked.
  if (last - first < 99) return
  for (const [name, count] of Object.entries(reached)) assert.ok(count > 10, `${name} reached ${count} times`)
})

test('one seed gives one run', () => {
  for (const seed of [1, 2, 3, 6, 7]) assert.deepEqual(run(seed), run(seed))
})
