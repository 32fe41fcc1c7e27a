import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { test } from 'node:test'
import { realControllers } from './fixtures/real-controller.ts'
import { type PlantedBug, plantedBugs } from './planted-bugs.ts'
import type { run } from './run.ts'

/** A hunt ends here. Most end after a few runs; the longest take some hundreds. */
const maxRuns = 2000
/** `REPLICATION_HUNT=7` hunts with other seeds, and says how many runs it took. */
const hunt = Number(process.env.REPLICATION_HUNT ?? 2)
const makeController = realControllers(3000)

/** Loads the simulation anew, over a copy of the core that has the bug. */
async function runWith(bug: PlantedBug, index: number): Promise<typeof run> {
  const query = `?planted=${index}`
  const planted = new Set<string>()
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      const isOurs = context.parentURL?.endsWith(query) && resolved.url.includes('/core/replication/')
      return isOurs ? { ...resolved, url: resolved.url + query } : resolved
    },
    load(url, context, next) {
      const loaded = next(url, context)
      if (!url.endsWith(query)) return loaded
      let source = String(loaded.source)
      for (const { file, find, replace } of bug.edits) {
        if (!new URL(url).pathname.endsWith(`/replication/${file}`)) continue
        assert.equal(source.split(find).length, 2, `${find} is in ${file} once`)
        source = source.replace(find, () => replace)
        planted.add(find)
      }
      return { ...loaded, source }
    },
  })
  try {
    const module = await import(`./run.ts${query}`)
    assert.equal(planted.size, bug.edits.length, 'the bug is planted')
    return module.run
  } finally {
    hooks.deregister()
  }
}

for (const [index, bug] of plantedBugs.entries()) {
  test(`the simulation finds it when ${bug.name}`, async () => {
    const runPlanted = await runWith(bug, index)
    const firstSeed = hunt * 1_000_000 + index * 10_000
    let runs = 0
    try {
      while (runs < maxRuns) runPlanted(firstSeed + runs++, makeController)
    } catch {
      if (process.env.REPLICATION_HUNT !== undefined) console.log(`${bug.name}: ${runs} runs`)
      return
    }
    assert.fail(`not found in ${maxRuns} runs`)
  })
}
