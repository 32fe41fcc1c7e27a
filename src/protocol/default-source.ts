import { zeroUuid } from '../base/uuid.ts'
import type { Field, Fields } from './schema.ts'

/** A JavaScript expression for the value of a field that is left out. It makes a new list or struct each time. */
export function defaultSource(field: Field): string {
  const { default: value } = field.options
  if (value === null) return 'null'
  switch (field.type) {
    case 'bool':
      return String(value ?? false)
    case 'bigint64':
      return `${value ?? 0n}n`
    case 'uuid':
      return `'${zeroUuid}'`
    case 'string':
      return JSON.stringify(value ?? '')
    case 'bytes':
    case 'records':
      return 'noBytes'
    case 'list':
      return '[]'
    case 'struct':
      return structOfDefaults(field.of as Fields)
    default:
      return String(value ?? 0)
  }
}

function structOfDefaults(fields: Fields): string {
  const properties = Object.entries(fields).map(([name, field]) => `${name}: ${defaultSource(field)}`)
  return `{ ${properties.join(', ')} }`
}
