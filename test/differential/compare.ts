import type { Plain } from './normalize.ts'
import type { Told } from './side.ts'

/** One place where two answers are not the same. */
export interface Difference {
  readonly scenario: string
  readonly label: string
  /** The way to it, with names of fields and indexes. */
  readonly path: string
  readonly kafka: string
  readonly millrace: string
}

const maxPerAnswer = 12

export function compare(scenario: string, kafka: readonly Told[], millrace: readonly Told[]): Difference[] {
  const differences: Difference[] = []
  for (let i = 0; i < Math.max(kafka.length, millrace.length); i++) {
    const label = kafka[i]?.label ?? millrace[i].label
    const found: Difference[] = []
    const add = (path: string, one: unknown, other: unknown) => {
      found.push({ scenario, label, path, kafka: shown(one), millrace: shown(other) })
    }
    if (kafka[i]?.label !== millrace[i]?.label) add('label', kafka[i]?.label, millrace[i]?.label)
    else visit('', kafka[i].answer, millrace[i].answer, add)
    differences.push(...found.slice(0, maxPerAnswer))
  }
  return differences
}

type Add = (path: string, kafka: unknown, millrace: unknown) => void

function visit(path: string, kafka: Plain | undefined, millrace: Plain | undefined, add: Add): void {
  if (kafka === millrace) return
  if (Array.isArray(kafka) && Array.isArray(millrace)) {
    if (kafka.length !== millrace.length) {
      add(`${path}.length`, kafka.length, millrace.length)
      const keys = [kafka, millrace].map(list => new Set(list.map(nameOf)))
      for (const name of keys[0].symmetricDifference(keys[1]))
        add(`${path}.has`, keys[0].has(name) ? name : '-', keys[1].has(name) ? name : '-')
      return
    }
    for (const [index, one] of kafka.entries()) visit(`${path}[${nameOf(one) ?? index}]`, one, millrace[index], add)
  } else if (isObject(kafka) && isObject(millrace)) {
    for (const key of new Set([...Object.keys(kafka), ...Object.keys(millrace)])) {
      visit(`${path}.${key}`, kafka[key], millrace[key], add)
    }
  } else add(path, kafka, millrace)
}

function nameOf(value: Plain): string | undefined {
  if (!isObject(value)) return undefined
  const { name, apiKey, feature, groupId } = value
  const found = name ?? apiKey ?? feature ?? groupId
  return found === undefined || found === null ? undefined : String(found)
}

function isObject(value: Plain | undefined): value is { readonly [key: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
