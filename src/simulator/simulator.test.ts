import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { bugs } from './bugs/broker-bugs.ts'
import { drawPlan } from './plan.ts'
import { plantBug } from './planted-bugs.ts'
import { runPlan } from './run.ts'

test('nothing that was promised is broken in the runs of some seeds, each of which is another', async () => {
  const hashes = new Set<string>()
  for (const seed of [1, 3, 8]) {
    const { violations, hash } = await runPlan(drawPlan(seed))
    assert.deepEqual(violations, [], `seed ${seed}`)
    hashes.add(hash)
  }
  assert.equal(hashes.size, 3)
})

test('a seed gives the same run again: in this process, and in others that compile and collect otherwise', async () => {
  const { hash, events } = await runPlan(drawPlan(8))
  assert.ok(events > 1000)
  for (const flags of [
    ['--no-opt', '--no-maglev'],
    ['--always-sparkplug', '--max-lazy', '--gc-interval=500'],
  ]) {
    const { stdout, status } = simulate(['--seed', '8', '--json'], flags)
    const { type, ...run } = JSON.parse(stdout)
    assert.deepEqual([type, run.hash, run.events, run.violations], ['run', hash, events, []])
    assert.equal(status, 0)
  }
})

test('a run with a bug planted in the broker tells of the broken promise', async () => {
  const bug = bugs.find(({ name }) => name === 'duplicates-are-appended')
  assert.ok(bug)
  const sources = plantBug(bug)
  const { runPlan: runWithBug } = (await sources.load('simulator/run.ts')) as { runPlan: typeof runPlan }
  sources.assertPlanted()
  const found = new Set<string>()
  for (let seed = 1; seed <= 10 && !found.has('I24'); seed++)
    for (const { invariant } of (await runWithBug(drawPlan(seed))).violations) found.add(invariant)
  assert.ok(found.has('I24'), [...found].join())
})

test('a command that cannot be understood ends with 2 and says what there is', () => {
  const { status, stderr } = simulate(['--seed', 'x'])
  assert.equal(status, 2)
  assert.match(stderr, /--seed N/)
})

function simulate(args: readonly string[], flags: readonly string[] = []) {
  const main = join(import.meta.dirname, 'main.ts')
  return spawnSync(process.execPath, [...flags, main, ...args], { encoding: 'utf8', timeout: 120_000 })
}
