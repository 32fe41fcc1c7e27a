import { registerHooks } from 'node:module'

/**
 * A mistake that can be put into the code when it is loaded, to see that the simulator finds it. The lists are in `bugs/`.
 */
export interface PlantedBug {
  /** As given to `npm run simulate -- --planted NAME`. */
  readonly name: string
  /** Relative to `src/`. */
  readonly file: string
  /** A piece of the file's source that is there exactly once. */
  readonly find: string
  readonly replace: string
  /** What goes wrong with it, and which promise that breaks. */
  readonly why?: string
}

const sourceRoot = new URL('..', import.meta.url).href
const parameter = '?planted='

/** A bug whose place has changed, or that was put in where nothing loads it: it would seem to be hard to find. */
export class BugNotPlanted extends Error {
  override readonly name = 'BugNotPlanted'
}

/** Our sources with one bug in them, beside those that run already. */
export interface PlantedSources {
  /** Loads a module, and everything of ours that it needs, anew. `file` is relative to `src/`. */
  load(file: string): Promise<unknown>
  /** To be asked once everything is imported. */
  assertPlanted(): void
}

/**
 * Modules that are imported through the answer are instances of their own, told apart by their URL; the bug is put into its
 * file when that is loaded. So many bugs can be tried in one process, one after the other.
 */
export function plantBug(bug: PlantedBug): PlantedSources {
  const mark = `${parameter}${encodeURIComponent(bug.name)}`
  const url = sourceRoot + bug.file + mark
  let isPlanted = false
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      const isFromPlanted = context.parentURL?.endsWith(mark) === true
      const isOurs = resolved.url.startsWith(sourceRoot) && !resolved.url.includes('?')
      return isFromPlanted && isOurs ? { ...resolved, url: resolved.url + mark } : resolved
    },
    load(loaded, context, nextLoad) {
      const module = nextLoad(loaded, context)
      if (loaded !== url) return module
      isPlanted = true
      return { ...module, source: withBug(bug, textOf(module.source)) }
    },
  })
  return {
    load: file => import(sourceRoot + file + mark),
    assertPlanted() {
      if (!isPlanted) throw new BugNotPlanted(`${bug.name}: ${bug.file} was not loaded after the bug was planted`)
    },
  }
}

/** The source with the bug in it. Throws when the place is not there, or more than once. */
export function withBug({ name, file, find, replace }: PlantedBug, source: string): string {
  const places = source.split(find).length - 1
  if (places !== 1) throw new BugNotPlanted(`${name}: its text is ${places} times in ${file}, it must be there once`)
  // Not as a pattern: a dollar sign in the replacement means itself.
  return source.replace(find, () => replace)
}

function textOf(source: unknown): string {
  return typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString()
}
