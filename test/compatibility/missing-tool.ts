import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A toolchain that the machine lacks: the runner skips the client and says what to install. */
export class MissingTool extends Error {
  constructor(tool: string, hint: string) {
    super(`${tool} is missing (${hint})`)
  }
}

/** The path of a program, or undefined. */
export function findTool(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // not in this folder
    }
  }
  return undefined
}

export function requireTool(name: string, hint: string): string {
  const path = findTool(name)
  if (path === undefined) throw new MissingTool(name, hint)
  return path
}
