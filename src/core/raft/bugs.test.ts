import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { withBug } from '../../simulator/planted-bugs.ts'
import { bugs } from './simulation/bugs.ts'

/** `RAFT_HUNT=5000` hunts each bug with random seeds from there on: about a second a bug. */
const firstSeed = process.env.RAFT_HUNT === undefined ? undefined : Number(process.env.RAFT_HUNT)
/** More seeds than this without a violation: the simulation does not see that bug. */
const maxSeeds = 2000

test('every planted bug fits the code as it is', () => {
  for (const bug of bugs) {
    const source = readFileSync(join(import.meta.dirname, '../..', bug.file), 'utf8')
    assert.notEqual(withBug(bug, source), source, bug.name)
  }
})

for (const bug of firstSeed === undefined ? [] : bugs) {
  test(`the simulation finds: ${bug.name}`, context => {
    // In a process of its own: a module is loaded once in each.
    const path = (file: string) => JSON.stringify(join(import.meta.dirname, file))
    const program = `const { plantBug } = await import(${path('../../simulator/planted-bugs.ts')})
      const planted = plantBug(${JSON.stringify(bug)})
      const { run } = await planted.load('core/raft/simulation/run.ts')
      planted.assertPlanted()
      for (let tried = 1; tried <= ${maxSeeds}; tried++) {
        try { run(${firstSeed} + tried) } catch (violation) {
          console.log(tried, 'seeds:', violation.message.split('\\n')[0])
          process.exit(0)
        }
      }
      process.exit(1)`
    const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
    context.diagnostic(stdout.trim())
    assert.equal(status, 0, 'not found')
  })
}
