import { registerHooks } from 'node:module'

/**
 * A mistake that can be put into the code when it is loaded, to see that the simulator finds it. The lists are in `bugs/`.
 */
export interface PlantedBug {
  /** As given to `npm run simulate -- --bug NAME`. */
  readonly name: string
  /** Relative to `src/`. */
  readonly file: string
  /** A piece of the file's source that is there exactly once. */
  readonly find: string
  readonly replace: string
}

const sourceRoot = new URL('..', import.meta.url).href

/** A bug whose place has changed, or that was put in too late: it would seem to be hard to find. */
export class BugNotPlanted extends Error {
  override readonly name = 'BugNotPlanted'
}

/**
 * Puts the bug into its file when that is loaded, which must be later than this and in this process. `assertPlanted` is to
 * be asked at the end of the run.
 */
export function plantBug(bug: PlantedBug): { assertPlanted(): void } {
  const url = sourceRoot + bug.file
  let isPlanted = false
  registerHooks({
    load(loaded, context, nextLoad) {
      const module = nextLoad(loaded, context)
      if (loaded !== url) return module
      isPlanted = true
      return { ...module, source: withBug(bug, textOf(module.source)) }
    },
  })
  return {
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
