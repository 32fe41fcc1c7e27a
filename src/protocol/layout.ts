import { zeroUuid } from '../base/uuid.ts'
import type { Field, Fields, PrimitiveName } from './schema.ts'
import { includesVersion } from './versions.ts'

/** How the fields of one struct lie on the wire in one version. */
export interface Layout {
  /** In wire order. */
  readonly plain: readonly (readonly [name: string, field: Field])[]
  /** By ascending tag. Their order in a flexible version's tagged section. */
  readonly tagged: readonly (readonly [name: string, field: Field, tag: number])[]
  /** Not on the wire in this version. */
  readonly absent: readonly (readonly [name: string, field: Field])[]
}

export function layoutOf(fields: Fields, version: number): Layout {
  const plain: [string, Field][] = []
  const tagged: [string, Field, number][] = []
  const absent: [string, Field][] = []
  for (const [name, field] of Object.entries(fields)) {
    if (!includesVersion(field.versions, version)) absent.push([name, field])
    else if (field.options.tag === undefined) plain.push([name, field])
    else tagged.push([name, field, field.options.tag])
  }
  tagged.sort((a, b) => a[2] - b[2])
  return { plain, tagged, absent }
}

export function isNullable(field: Field, version: number): boolean {
  return includesVersion(field.options.nullable, version)
}

const fixedSizes: Partial<Record<Field['type'], number>> = {
  bool: 1,
  int8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  bigint64: 8,
  float64: 8,
  uuid: 16,
}

/** Bytes on the wire of a type that always takes the same number; undefined for the others. */
export function fixedSizeOf(type: Field['type']): number | undefined {
  return fixedSizes[type]
}

/** The least number of bytes that one element of a list takes; at least 1, so that bytes left bound every count. */
export function leastSizeOf(of: PrimitiveName | Fields, version: number, flexible: boolean): number {
  if (typeof of === 'string') return fixedSizeOf(of) ?? leastLength(of, flexible)
  let size = flexible ? 1 : 0
  for (const [, field] of layoutOf(of, version).plain) size += leastSizeOfField(field, version, flexible)
  return Math.max(1, size)
}

function leastSizeOfField(field: Field, version: number, flexible: boolean): number {
  if (field.type !== 'struct') return fixedSizeOf(field.type) ?? leastLength(field.type, flexible)
  if (isNullable(field, version)) return 1
  return leastSizeOf(field.of as Fields, version, flexible)
}

function leastLength(type: Field['type'], flexible: boolean): number {
  if (flexible) return 1
  return type === 'string' ? 2 : 4
}

const noBytes = Buffer.alloc(0)

/** The value of a field that is left out: a new one where it is a list or a struct. */
export function defaultOf(field: Field): unknown {
  const { default: value } = field.options
  if (value !== undefined) return Array.isArray(value) ? [] : value
  switch (field.type) {
    case 'bool':
      return false
    case 'bigint64':
      return 0n
    case 'uuid':
      return zeroUuid
    case 'string':
      return ''
    case 'bytes':
    case 'records':
      return noBytes
    case 'list':
      return []
    case 'struct':
      return defaultsOf(field.of as Fields)
    default:
      return 0
  }
}

function defaultsOf(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, defaultOf(field)]))
}

/** Whether a value may be left out of a tagged section, or out of a version that lacks its field. */
export function isDefault(field: Field, value: unknown): boolean {
  if (value === undefined) return true
  const expected = field.options.default
  if (value === null || expected === null) return value === expected
  switch (field.type) {
    case 'bytes':
    case 'records':
      return (value as { byteLength: number }).byteLength === 0
    case 'list':
      return (value as readonly unknown[]).length === 0
    case 'struct': {
      const struct = value as Record<string, unknown>
      return Object.entries(field.of as Fields).every(([name, inner]) => isDefault(inner, struct[name]))
    }
    default:
      return value === defaultOf(field)
  }
}
