import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { namesOf } from './io/directory-tree.ts'
import { type PlantedBug, plantBug, withBug } from './planted-bugs.ts'

const bug: PlantedBug = {
  name: 'names may climb',
  file: 'simulator/io/directory-tree.ts',
  find: "filter(name => name !== '' && name !== '.')",
  replace: "filter(name => name !== '$&')",
  why: 'a path leads elsewhere',
}
const file = 'simulator/io/directory-tree.ts'

test('a planted bug is in the modules that are imported with it, and in no others', async () => {
  const planted = plantBug(bug)
  const sound = namesOf('./a//$&/b').join()
  const { namesOf: unsound } = (await planted.load(file)) as { namesOf: typeof namesOf }
  planted.assertPlanted()
  assert.equal(unsound('./a//$&/b').join(), '.,a,,b')
  assert.equal(namesOf('./a//$&/b').join(), sound)
  const again = (await plantBug({ ...bug, name: 'another', replace: 'slice(1)' }).load(file)) as typeof planted & {
    namesOf: typeof namesOf
  }
  assert.equal(again.namesOf('a/b').join(), 'b')
})

test('a bug reaches modules that are imported by others', async () => {
  const planted = plantBug({ ...bug, name: 'deep' })
  await planted.load('simulator/io/world.ts')
  planted.assertPlanted()
})

test('a bug that no longer fits fails the run', async () => {
  const stale = plantBug({ ...bug, name: 'stale', find: 'this text is nowhere' })
  await assert.rejects(stale.load(file), /0 times/)
  const ambiguous = plantBug({ ...bug, name: 'ambiguous', find: 'name' })
  await assert.rejects(ambiguous.load(file), /\d\d times/)
})

test('a bug in a file that nobody loads is noticed', async () => {
  const planted = plantBug({ ...bug, name: 'unused' })
  await planted.load('base/uuid.ts')
  assert.throws(() => planted.assertPlanted(), /was not loaded/)
})

test('every bug of the lists fits the code as it is', async () => {
  for (const list of globSync('bugs/*.ts', { cwd: import.meta.dirname })) {
    const { bugs } = (await import(join(import.meta.dirname, list))) as { bugs: readonly PlantedBug[] }
    for (const one of bugs) {
      const source = readFileSync(join(import.meta.dirname, '..', one.file), 'utf8')
      assert.notEqual(withBug(one, source), source, one.name)
    }
  }
})
