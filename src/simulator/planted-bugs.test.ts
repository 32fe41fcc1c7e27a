import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type PlantedBug, withBug } from './planted-bugs.ts'

const bug: PlantedBug = {
  name: 'names may climb',
  file: 'simulator/io/directory-tree.ts',
  find: "filter(name => name !== '' && name !== '.')",
  replace: "filter(name => name !== '$&')",
}

/** Runs a program with these modules at hand in a process of its own, since a module is loaded once in each. */
function runProgram(program: string): { output: string; error: string } {
  const path = (file: string) => JSON.stringify(join(import.meta.dirname, file))
  const text = `const { plantBug } = await import(${path('planted-bugs.ts')})
    const load = () => import(${path('io/directory-tree.ts')})
    ${program}`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', text], { encoding: 'utf8' })
  return { output: stdout.trim(), error: stderr }
}

test('a planted bug is in the code that runs', () => {
  const program = `const planted = plantBug(${JSON.stringify(bug)})
    const { namesOf } = await load()
    planted.assertPlanted()
    console.log(namesOf('./a//$&/b').join())`
  assert.equal(runProgram(program).output, '.,a,,b')
})

test('a bug that no longer fits fails the run', () => {
  const stale = { ...bug, find: 'this text is nowhere' }
  assert.match(runProgram(`plantBug(${JSON.stringify(stale)}); await load()`).error, /BugNotPlanted: .* 0 times/)
  const ambiguous = { ...bug, find: 'name' }
  assert.match(runProgram(`plantBug(${JSON.stringify(ambiguous)}); await load()`).error, /BugNotPlanted: .* \d\d times/)
})

test('a bug in a file that was loaded before is noticed', () => {
  const program = `await load(); plantBug(${JSON.stringify(bug)}).assertPlanted()`
  assert.match(runProgram(program).error, /BugNotPlanted: .* not loaded/)
})

test('every bug of the lists fits the code as it is', async () => {
  for (const file of globSync('bugs/*.ts', { cwd: import.meta.dirname })) {
    const { bugs } = (await import(join(import.meta.dirname, file))) as { bugs: readonly PlantedBug[] }
    for (const one of bugs) {
      const source = readFileSync(join(import.meta.dirname, '..', one.file), 'utf8')
      assert.notEqual(withBug(one, source), source, one.name)
    }
  }
})
