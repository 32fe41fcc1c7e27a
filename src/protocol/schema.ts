/**
 * The language that the wire is described in. A message is a list of fields; property order is wire order.
 *
 *   const topic = fields({ name: string('0-12'), topicId: uuid('13+'), partitions: list('0+', int32) })
 *   export const exampleRequest = message('ExampleRequest', { key: 1, versions: '4-18', flexible: '12+' }, {
 *     timeoutMs: int32('0+', { default: 500 }),
 *     topics: list('0+', topic, { nullable: '2+' }),
 *   })
 *   export interface ExampleRequest extends Infer<typeof exampleRequest> {}
 *
 * `Infer` is what decoding gives: every field is there, at its default where the version lacks it.
 * `Input` is what encoding takes: fields with a default, tagged ones and those that some versions lack may be left out.
 */
import type { ErrorCode } from '../base/error-code.ts'
import type { Uuid } from '../base/uuid.ts'
import { parseVersions, type Versions } from './versions.ts'

export type PrimitiveName =
  | 'bool'
  | 'int8'
  | 'int16'
  | 'uint16'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'bigint64'
  | 'float64'
  | 'uuid'
  | 'string'
  | 'bytes'
  | 'records'

/** Bytes that this process does not hold in memory, such as a range of a file: only their number matters here. */
export interface ExternalBytes {
  readonly length: number
}

/** Bytes in several pieces that are sent one after the other. `byteLength` is their sum. */
export interface PartedBytes {
  readonly byteLength: number
  readonly parts: readonly (Buffer | ExternalBytes)[]
}

/** What a `bytes` or `records` field is encoded from. Decoding gives a Buffer that shares the input's memory. */
export type BytesInput = Buffer | PartedBytes

export interface FieldOptions<T = unknown> {
  /** Versions in which null is allowed. */
  readonly nullable?: Versions
  /** The value of a field that is left out. Without it: 0, false, '', no bytes, an empty list, a struct of defaults. */
  readonly default?: T | null
  /** The field travels in the tagged section, in all of its versions. */
  readonly tag?: number
  /** Encoding to a version without this field drops its value; otherwise a value other than the default is an error. */
  readonly ignorable?: true
  /** Keeps the old encoding in flexible versions too (the client id of a request header). */
  readonly flexible?: 'none'
}

declare const types: unique symbol

/** One field. The type parameters exist at compile time only. */
export interface Field<Out = unknown, In = unknown, Optional extends boolean = boolean> {
  readonly type: PrimitiveName | 'list' | 'struct'
  readonly versions: Versions
  readonly options: FieldOptions
  /** Of a list: what it holds. Of a struct: its fields. */
  readonly of?: PrimitiveName | Fields
  readonly [types]: { readonly out: Out; readonly in: In; readonly optional: Optional }
}

export type Fields = { readonly [name: string]: Field }

/** A codec for one version: `decode` reads at `reader.position`, `encode` writes at `writer.position`. */
export interface Message<F extends Fields = Fields> {
  readonly name: string
  /** The API key of a request or response, the record type of a stored record; -1 where there is none. */
  readonly key: number
  readonly minVersion: number
  readonly maxVersion: number
  /** The first flexible version; Infinity if there is none. */
  readonly flexibleFrom: number
  readonly fields: F
  /** Compiled codecs by version, filled by `codec.ts` on first use. They depend on nothing but the schema. */
  readonly decoders: unknown[]
  readonly encoders: unknown[]
}

type Nullable<T, O> = O extends { readonly nullable: Versions } ? T | null : T
type IsOptional<V, O> = O extends { readonly default: unknown } | { readonly tag: number }
  ? true
  : V extends '0+'
    ? false
    : true

/** What decoding gives for a message or for the fields of a struct. */
export type Infer<T> = T extends Message<infer F> ? InferFields<F> : T extends Fields ? InferFields<T> : never
type InferFields<F extends Fields> = { readonly [K in keyof F]: F[K][typeof types]['out'] }

/** What encoding takes for a message or for the fields of a struct. */
export type Input<T> = T extends Message<infer F> ? InputFields<F> : T extends Fields ? InputFields<T> : never
type OptionalKeys<F extends Fields> = {
  [K in keyof F]: F[K][typeof types]['optional'] extends true ? K : never
}[keyof F]
type InputFields<F extends Fields> = {
  readonly [K in keyof F as K extends OptionalKeys<F> ? never : K]: F[K][typeof types]['in']
} & {
  readonly [K in OptionalKeys<F>]?: F[K][typeof types]['in']
}

/** What a list can hold besides structs. */
interface PrimitiveElement<Out = unknown, In = unknown> {
  readonly primitive: PrimitiveName
  readonly [types]: { readonly out: Out; readonly in: In }
}

interface Primitive<Out, In = Out> extends PrimitiveElement<Out, In> {
  <const V extends Versions, const O extends FieldOptions<Out> = FieldOptions<never>>(
    versions: V,
    options?: O,
  ): Field<Nullable<Out, O>, Nullable<In, O>, IsOptional<V, O>>
}

const noOptions: FieldOptions = {}

function primitive<Out, In = Out>(name: PrimitiveName): Primitive<Out, In> {
  const make = (versions: Versions, options = noOptions) => ({ type: name, versions, options })
  return Object.assign(make, { primitive: name }) as unknown as Primitive<Out, In>
}

export const bool = primitive<boolean>('bool')
export const int8 = primitive<number>('int8')
export const int16 = primitive<number>('int16')
export const uint16 = primitive<number>('uint16')
export const int32 = primitive<number>('int32')
export const uint32 = primitive<number>('uint32')
/**
 * A number that is a safe integer, or ±Infinity. Infinity is the wire's Long.MAX_VALUE and -Infinity its Long.MIN_VALUE,
 * both ways. Other values beyond ±(2^53 - 1) decode to ±Infinity too: such an offset or id is then out of every range,
 * as it is for Kafka, where a rounded one could be taken for another valid value. Encoding refuses other numbers.
 */
export const int64 = primitive<number>('int64')
/** An int64 that carries a timestamp a user chose: all 64 bits are kept, as a bigint. */
export const timestamp64 = primitive<bigint>('bigint64')
/** An int64 that is a hash: all 64 bits are kept, as a bigint. */
export const hash64 = primitive<bigint>('bigint64')
export const float64 = primitive<number>('float64')
/** Text form of 22 characters. Zero bits (`zeroUuid`) are the wire's null. */
export const uuid = primitive<Uuid>('uuid')
/** UTF-8. As with Kafka, invalid sequences decode to U+FFFD. */
export const string = primitive<string>('string')
export const bytes = primitive<Buffer, BytesInput>('bytes')
/** Record batches, back to back; encoded as `bytes`. */
export const records = primitive<Buffer, BytesInput>('records')
/** An int16 that holds an error code. */
export const errorCode = primitive<ErrorCode>('int16')

/** Names the fields of a struct, so that its type can be inferred and it can be used more than once. */
export function fields<const F extends Fields>(of: F): F {
  return of
}

type Element = Fields | PrimitiveElement
type ElementOut<E> = E extends PrimitiveElement ? E[typeof types]['out'] : E extends Fields ? InferFields<E> : never
type ElementIn<E> = E extends PrimitiveElement ? E[typeof types]['in'] : E extends Fields ? InputFields<E> : never

export function list<const V extends Versions, const E extends Element, const O extends FieldOptions<readonly []>>(
  versions: V,
  of: E,
  options?: O,
): Field<Nullable<readonly ElementOut<E>[], O>, Nullable<readonly ElementIn<E>[], O>, IsOptional<V, O>> {
  const element = typeof of === 'function' ? (of as PrimitiveElement).primitive : of
  return { type: 'list', versions, options: options ?? noOptions, of: element } as never
}

export function struct<const V extends Versions, const F extends Fields, const O extends FieldOptions<never>>(
  versions: V,
  of: F,
  options?: O,
): Field<Nullable<InferFields<F>, O>, Nullable<InputFields<F>, O>, IsOptional<V, O>> {
  return { type: 'struct', versions, options: options ?? noOptions, of } as never
}

export function message<const F extends Fields>(
  name: string,
  about: { readonly key?: number; readonly versions: Versions; readonly flexible: Versions },
  of: F,
): Message<F> {
  const { from, to } = parseVersions(about.versions)
  return {
    name,
    key: about.key ?? -1,
    minVersion: from,
    maxVersion: to,
    flexibleFrom: parseVersions(about.flexible).from,
    fields: of,
    decoders: [],
    encoders: [],
  }
}
