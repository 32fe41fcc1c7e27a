import { Properties } from 'properties-file/parser'
import type { ConfigProblem } from './problem.ts'

export interface ConfigFile {
  /** As it is named in messages. */
  readonly path: string
  readonly text: string
}

export interface FileSettings {
  /** Keys in the order of the file; the last of several for one key counts. */
  readonly settings: ReadonlyMap<string, { readonly value: string; readonly line: number }>
  readonly warnings: readonly string[]
  readonly problem: ConfigProblem | undefined
}

/** Reads a Java properties file. The only thing that cannot be read is a broken \u escape. */
export function settingsOfFile({ path, text }: ConfigFile): FileSettings {
  const brokenEscape = /^(?:[^\\]|\\[^u])*?\\u(?![0-9a-fA-F]{4})/
  const lines = text.split(/\r\n|\r|\n/)
  const brokenLine = lines.findIndex(line => !/^\s*[#!]/.test(line) && brokenEscape.test(line))
  if (brokenLine >= 0) {
    const origin = { type: 'file', path, line: brokenLine + 1 } as const
    const problem = {
      key: 'text',
      origin,
      given: lines[brokenLine].trim(),
      allowed: '\\u with four hexadecimal digits',
    }
    return { settings: new Map(), warnings: [], problem }
  }

  const settings = new Map<string, { value: string; line: number }>()
  const warnings: string[] = []
  for (const node of new Properties(text).nodes) {
    if (node.type !== 'property') continue
    const earlier = settings.get(node.key)
    if (earlier) {
      warnings.push(
        `${path}, line ${node.startingLineNumber}: ${node.key} stands on line ${earlier.line} too; the last counts`,
      )
    }
    settings.set(node.key, { value: node.value, line: node.startingLineNumber })
  }
  return { settings, warnings, problem: undefined }
}
