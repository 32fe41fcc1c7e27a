import { checkElements, checkRange, type ListRules, type NumberRules } from './check.ts'
import { doubleText, parseBoolean, parseDouble, parseInteger, splitList } from './text.ts'

export type SettingType = 'boolean' | 'string' | 'int' | 'short' | 'long' | 'double' | 'list' | 'class' | 'password'

/** Where a value may be changed while the broker runs: nowhere, for one broker only, or also for all of them. */
export type UpdateMode = 'read-only' | 'per-broker' | 'cluster-wide'

/**
 * `text` is the value as Kafka prints it: numbers without leading zeros, lists without spaces or repetitions. `allowed` is there
 * where the `allowed` of the setting does not say what is wrong: it leaves out the bounds of the type.
 */
export type Parsed<T> =
  | { readonly type: 'parsed'; readonly value: T; readonly text: string }
  | { readonly type: 'invalid'; readonly message: string; readonly allowed?: string }

/** One declared setting. Its type parameter is what `parse` yields, with `undefined` where the default is no value. */
export interface Setting<T = unknown> {
  readonly name: string
  readonly type: SettingType
  /** Null: no value. Undefined: the setting must be given. */
  readonly default: string | null | undefined
  /** Which values are allowed, for people. */
  readonly allowed: string
  readonly update: UpdateMode
  /** Not listed by DescribeConfigs. */
  readonly isInternal: boolean
  readonly doc: string
  /** Why setting it changes nothing here: the setting is Kafka's, is accepted, and what it governs is not in Millrace. */
  readonly inertBecause: string | undefined
  /** Why setting it has no effect so far, where what it governs is in Millrace. */
  readonly noEffect: NoEffect | undefined
  /** The message of an invalid value is Kafka's own. */
  parse(text: string): Parsed<T>
}

export interface NoEffect {
  /** What is so whatever is set. */
  readonly because: string
  /** The one value that says what is so. The default, which nobody means, is another. */
  readonly except?: string
}

export interface Options<D> {
  readonly default: D
  readonly doc?: string
  /** Which values are allowed, where a rule across settings says more than the type and its bounds (`broker-rules.ts`). */
  readonly allowed?: string
  /** Read-only if left out. */
  readonly update?: UpdateMode
  readonly internal?: true
  readonly noEffect?: NoEffect
}

/** The type of a value with default D: null makes it optional, 'required' has no default. */
type ValueOf<T, D> = D extends null ? T | undefined : T

export const required = Symbol('a setting without a default')
type Required = typeof required

export type SettingValue<S> = S extends Setting<infer T> ? T : never

/** A value of a password setting is never printed, logged or sent. */
export function isSensitive(setting: Setting): boolean {
  return setting.type === 'password'
}

function declare<T>(
  name: string,
  type: SettingType,
  options: Options<unknown>,
  about: { readonly default: string | null | undefined; readonly allowed: string },
  parse: (text: string) => Parsed<T>,
): Setting<T> {
  return {
    name,
    type,
    default: about.default,
    allowed: options.allowed ?? about.allowed,
    update: options.update ?? 'read-only',
    isInternal: options.internal === true,
    doc: options.noEffect ? `${options.doc} Without effect so far: ${options.noEffect.because}.` : (options.doc ?? ''),
    inertBecause: undefined,
    noEffect: options.noEffect,
    parse,
  }
}

function given<D>(value: D | null | Required, print: (value: D) => string): string | null | undefined {
  if (value === required) return undefined
  return value === null ? null : print(value as D)
}

export function invalid(name: string, value: string, problem: string): { type: 'invalid'; message: string } {
  return { type: 'invalid', message: `Invalid value ${value} for configuration ${name}: ${problem}` }
}

type NumberOptions<D> = Options<D> & NumberRules

const bounds = {
  short: { least: -(2n ** 15n), most: 2n ** 15n - 1n, noun: 'a whole number' },
  int: { least: -(2n ** 31n), most: 2n ** 31n - 1n, noun: 'a whole number' },
  long: { least: -(2n ** 63n), most: 2n ** 63n - 1n, noun: 'a whole number' },
}

/** Long.MAX_VALUE is Infinity here, as on the wire. Other values beyond 2^53 are rounded; their text is exact. */
function numberOf(value: bigint): number {
  return value === bounds.long.most ? Number.POSITIVE_INFINITY : Number(value)
}

function integerText(value: number): string {
  return value === Number.POSITIVE_INFINITY ? String(bounds.long.most) : String(value)
}

function integer<const D extends number | null | Required>(type: 'short' | 'int' | 'long') {
  return (name: string, options: NumberOptions<D>): Setting<ValueOf<number, D>> =>
    declare(
      name,
      type,
      options,
      { default: given<number>(options.default, integerText), allowed: rangeText(bounds[type].noun, options) },
      text => {
        const value = parseInteger(text)
        if (value === undefined) return notOfType(name, text, type)
        if (value < bounds[type].least || value > bounds[type].most) {
          return { ...notOfType(name, text, type), allowed: allowedOfType(value, type, options) }
        }
        const problem = checkRange(Number(value), options)
        if (problem !== undefined) return invalid(name, String(value), problem)
        return { type: 'parsed', value: numberOf(value) as ValueOf<number, D>, text: String(value) }
      },
    )
}

function notOfType(name: string, text: string, type: 'short' | 'int' | 'long') {
  return invalid(name, text.trim(), `Not a number of type ${type.toUpperCase()}`)
}

function allowedOfType(value: bigint, type: 'short' | 'int' | 'long', options: NumberOptions<unknown>): string {
  const allowed = options.allowed ?? rangeText(bounds[type].noun, options)
  const { least, most } = bounds[type]
  if (value > most) return options.max === undefined ? `${allowed}, at most ${most}` : allowed
  return options.min === undefined && options.allowed === undefined ? `${allowed}, at least ${least}` : allowed
}

export function short<const D extends number | null | Required>(name: string, options: NumberOptions<D>) {
  return integer<D>('short')(name, options)
}

export function int<const D extends number | null | Required>(name: string, options: NumberOptions<D>) {
  return integer<D>('int')(name, options)
}

/** A long whose default is Infinity has Kafka's Long.MAX_VALUE. */
export function long<const D extends number | null | Required>(name: string, options: NumberOptions<D>) {
  return integer<D>('long')(name, options)
}

export function double<const D extends number | null | Required>(
  name: string,
  options: NumberOptions<D>,
): Setting<ValueOf<number, D>> {
  const about = { default: given<number>(options.default, doubleText), allowed: rangeText('a number', options) }
  return declare(name, 'double', options, about, text => {
    const value = parseDouble(text)
    if (value === undefined) return invalid(name, text.trim(), 'Not a number of type DOUBLE')
    const problem = checkRange(value, options)
    if (problem !== undefined) return invalid(name, doubleText(value), problem)
    return { type: 'parsed', value: value as ValueOf<number, D>, text: doubleText(value) }
  })
}

function rangeText(noun: string, { min, max, or }: NumberRules): string {
  const alternative = or === undefined ? '' : `, or ${or}`
  if (min === undefined) return noun
  return max === undefined ? `${noun} of at least ${min}` : `${noun} from ${min} to ${max}${alternative}`
}

export function boolean<const D extends boolean | null>(
  name: string,
  options: Options<D>,
): Setting<ValueOf<boolean, D>> {
  const about = { default: given<boolean>(options.default, String), allowed: 'true or false' }
  return declare(name, 'boolean', options, about, text => {
    const value = parseBoolean(text)
    if (value === undefined) return invalid(name, text.trim(), 'Expected value to be either true or false')
    return { type: 'parsed', value: value as ValueOf<boolean, D>, text: String(value) }
  })
}

interface StringOptions<D, V extends string> extends Options<D> {
  readonly oneOf?: readonly V[]
  readonly ignoresCase?: true
  readonly nonEmpty?: true
  /** A rule of its own: what is wrong with the value, or undefined. */
  readonly check?: (value: string) => string | undefined
}

export function string<const V extends string, const D extends string | null | Required>(
  name: string,
  options: StringOptions<D, V>,
): Setting<ValueOf<string extends V ? string : V, D>> {
  const about = { default: given<string>(options.default, value => value), allowed: stringsAllowed(options) }
  return declare(name, 'string', options, about, text => {
    const value = text.trim()
    const problem = checkString(value, options)
    if (problem !== undefined) return invalid(name, value, problem)
    return { type: 'parsed', value: value as ValueOf<string extends V ? string : V, D>, text: value }
  })
}

function checkString(value: string, options: StringOptions<unknown, string>): string | undefined {
  if (options.nonEmpty && value === '') return 'String must be non-empty'
  if (options.oneOf) {
    const found = options.oneOf.some(one => (options.ignoresCase ? one === value.toUpperCase() : one === value))
    if (!found) {
      return `String must be one of${options.ignoresCase ? ' (case insensitive)' : ''}: ${options.oneOf.join(', ')}`
    }
  }
  return options.check?.(value)
}

function stringsAllowed(options: StringOptions<unknown, string>): string {
  if (options.oneOf) return `one of: ${options.oneOf.join(', ')}`
  return options.nonEmpty ? 'a text that is not empty' : 'a text'
}

/** The name of a Java class. There is none to load here: such a setting is inert, or its value is compared with names we know. */
export function className<const D extends string | null>(
  name: string,
  options: Options<D>,
): Setting<ValueOf<string, D>> {
  const about = { default: given<string>(options.default, value => value), allowed: 'the name of a Java class' }
  return declare(name, 'class', options, about, text => {
    const value = text.trim()
    return { type: 'parsed', value: value as ValueOf<string, D>, text: value }
  })
}

export function password(name: string, options: Options<null>): Setting<string | undefined> {
  return declare<string | undefined>(name, 'password', options, { default: null, allowed: 'a secret' }, text => {
    const value = text.trim()
    return { type: 'parsed', value, text: value }
  })
}

type ListOptions<D> = Options<D> & ListRules

/** Elements are trimmed, and kept once each in the order in which they are first named. */
export function list<const D extends readonly string[] | null | Required>(
  name: string,
  options: ListOptions<D>,
): Setting<ValueOf<readonly string[], D>> {
  const about = {
    default: given<readonly string[]>(options.default, values => values.join(',')),
    allowed: listAllowed(options),
  }
  return declare(name, 'list', options, about, text => {
    const elements = splitList(text)
    const message = checkElements(name, elements, options)
    if (message !== undefined) return { type: 'invalid', message }
    return {
      type: 'parsed',
      value: elements as readonly string[] as ValueOf<readonly string[], D>,
      text: elements.join(','),
    }
  })
}

function listAllowed(options: ListRules): string {
  const empty = options.nonEmpty ? ', at least one' : ''
  return options.oneOf ? `a list of: ${options.oneOf.join(', ')}${empty}` : `a list with commas between${empty}`
}

/** Kafka's settings that Millrace knows, accepts and describes, and that change nothing here. */
export function inert(reason: string, settings: readonly Setting[]): readonly Setting[] {
  return settings.map(setting => ({ ...setting, inertBecause: reason, doc: `Accepted, without effect: ${reason}.` }))
}
