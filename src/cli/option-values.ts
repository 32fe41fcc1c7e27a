import { Option } from 'commander'
import { CommandFailure, ExitCode } from './output.ts'

/** A text that an option cannot have; `what` is needed in its place. */
export class Needed {
  readonly what: string

  constructor(what: string) {
    this.what = what
  }
}

/** What the text of an option means. */
export type Parse<T> = (text: string) => T | Needed

/** An option whose text is checked before anything is done: one line names it as it was typed, and says what is needed. */
export function valued<T>(flags: string, description: string, parse: Parse<T>): Option {
  const option = new Option(flags, description)
  return option.argParser((text: string) => checked(option, text, parse))
}

/** An option that may be given several times: its value is a list. */
export function repeated<T>(flags: string, description: string, parse: Parse<T>): Option {
  const option = new Option(flags, `${description}; may be repeated`)
  return option.argParser((text: string, before: readonly T[] = []) => [...before, checked(option, text, parse)])
}

function checked<T>(option: Option, text: string, parse: Parse<T>): T {
  const value = parse(text)
  if (!(value instanceof Needed)) return value
  throw new CommandFailure(`${asTyped(option, text)}: ${value.what} is needed`, ExitCode.usage)
}

/** `-n many` or `--count many`, whichever it was. */
function asTyped({ short, long }: Option, text: string): string {
  const isShort = process.argv.some(
    (arg, index, all) =>
      short !== undefined &&
      (arg === `${short}${text}` || (/^-\w+$/.test(arg) && arg.endsWith(short.slice(1)) && all[index + 1] === text)),
  )
  return `${isShort ? short : long} ${quoted(text)}`
}

/** An empty text, or one with blanks in it, would not be seen as one. */
export function quoted(text: string): string {
  return /^\S+$/.test(text) ? text : JSON.stringify(text)
}

/** A text of at least one character. */
export const someText: Parse<string> = text => (text === '' ? new Needed('a name') : text)

/** Both ends belong to it. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): Parse<number> {
  return text => {
    const value = Number(text)
    const isWithin = /^\d+$/.test(text) && value >= min && value <= max
    return isWithin ? value : new Needed(`a whole number from ${min} to ${max}`)
  }
}

/** The largest that the protocol has room for: partitions, numbers of nodes, times in milliseconds. */
export const maxInt32 = 2 ** 31 - 1

export const seconds: Parse<number> = text => {
  const value = /^\d*\.?\d+$/.test(text) ? Number(text) : 0
  const max = Math.floor(maxInt32 / 1000)
  return value > 0 && value <= max ? value : new Needed(`a number of seconds above 0, and at most ${max},`)
}

export function oneOf<const T extends string>(...names: readonly T[]): Parse<T> {
  const listed = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
  return text => names.find(name => name === text) ?? new Needed(listed)
}

/** KEY=VALUE. */
export const keyAndValue: Parse<readonly [key: string, value: string]> = text => {
  const at = text.indexOf('=')
  return at <= 0 ? new Needed('KEY=VALUE') : [text.slice(0, at), text.slice(at + 1)]
}

const isoDate = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/

/** A date as milliseconds. Only dates that mean the same to everybody: `Date.parse` makes one of nearly any text. */
export const dateMs: Parse<number> = text => {
  const ms = isoDate.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? new Needed('a date such as 2026-11-29 or 2026-11-29T08:00:00Z') : ms
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export const durationMs: Parse<number> = text => {
  const match = /^(\d{1,9})([smhd])$/.exec(text)
  return match === null ? new Needed('a duration such as 30s, 15m, 6h or 7d') : Number(match[1]) * unitMs[match[2]]
}
