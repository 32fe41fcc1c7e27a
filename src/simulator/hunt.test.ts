import assert from 'node:assert/strict'
import { test } from 'node:test'
import { carryOut, type HuntWorld } from './hunt.ts'

/** A world in which computing takes a second each time that anybody asks. */
function huntWorld(freshSeed: number): HuntWorld & { readonly printed: string[] } {
  let seconds = 0
  const printed: string[] = []
  const next = () => seconds++
  return {
    ...{ seconds: next, cpuSeconds: next, freshSeed, assertUntouched: () => undefined },
    ...{ printed, print: text => void printed.push(text) },
  }
}

const command = {
  type: 'planted',
  name: 'fetch-reads-beyond-high-watermark',
  minutes: 10,
  hunts: 2,
  isJson: true,
} as const

test('of several hunts for a bug the one in the middle is told, the longest, and what was broken', async () => {
  const world = huntWorld(1)
  assert.equal(await carryOut(command, world), true)
  const [outcome, ...others] = world.printed.map(line => JSON.parse(line))
  assert.deepEqual(others, [])
  const { bug, hunts, found, seeds, cpuSeconds, mostCpuSeconds, invariants } = outcome
  assert.deepEqual([bug, hunts, found], ['fetch-reads-beyond-high-watermark', 2, true])
  assert.ok(seeds >= 1 && mostCpuSeconds >= cpuSeconds)
  const counts: number[] = Object.values(invariants)
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    2,
  )
  assert.equal('none' in invariants, false)
})

test('a bug that is not found in its time fails the command', async () => {
  const world = huntWorld(1)
  assert.equal(
    await carryOut({ ...command, name: 'producer-ids-overlap', hunts: 1, minutes: 0, isJson: false }, world),
    false,
  )
  assert.match(world.printed.join('\n'), /NOT found in 0 seeds/)
})

test('a bug that is not on the list is no bug', async () => {
  await assert.rejects(
    carryOut({ ...command, name: 'no-such-bug' }, huntWorld(1)),
    /there is no planted bug no-such-bug/,
  )
})
