import { defaultOf } from './layout.ts'
import type { Fields, Infer, Input, Message } from './schema.ts'

/**
 * A value with everything that was left out at its default: what decoding would give for it, in a version that has all of
 * its fields. `of` is a message or the fields of a struct. The value is copied as far as its lists and structs go.
 */
export function withDefaults<T extends Message | Fields>(of: T, value: Input<T>): Infer<T> {
  return complete(fieldsOf(of), value as Record<string, unknown>) as Infer<T>
}

function fieldsOf(of: Message | Fields): Fields {
  // A struct may have a field called `name`, but that is no string.
  return typeof of.name === 'string' ? (of as Message).fields : (of as Fields)
}

function complete(fields: Fields, value: Record<string, unknown>): Record<string, unknown> {
  const whole: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    const given = value[name] === undefined ? defaultOf(field) : value[name]
    if (given === null || typeof field.of !== 'object') whole[name] = given
    else if (field.type === 'struct') whole[name] = complete(field.of, given as Record<string, unknown>)
    else whole[name] = (given as Record<string, unknown>[]).map(element => complete(field.of as Fields, element))
  }
  return whole
}
