import { assert } from '../base/assert.ts'
import { defaultOf, fixedSizeOf, isDefault, isNullable, layoutOf, leastSizeOf } from './layout.ts'
import { EncodeError, ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import type { BytesInput, Field, Fields, Message, PrimitiveName } from './schema.ts'
import type { Writer } from './writer.ts'

/**
 * The codec that one can see to be right: it walks the schema for each value. The compiled codecs must do exactly as it
 * does, and it takes their place where the process may not make code from strings.
 */
export function decodeByReference(message: Message, version: number, reader: Reader): unknown {
  const flexible = version >= message.flexibleFrom
  return new Decoding(version, flexible, reader.maxElements).struct(reader, message.fields, message.name)
}

export function encodeByReference(message: Message, version: number, value: unknown, writer: Writer): void {
  new Encoding(version, version >= message.flexibleFrom, writer).struct(value, message.fields, message.name)
}

type Struct = Record<string, unknown>

class Decoding {
  readonly #version: number
  readonly #flexible: boolean
  #room: number

  constructor(version: number, flexible: boolean, maxElements: number) {
    this.#version = version
    this.#flexible = flexible
    this.#room = maxElements
  }

  struct(reader: Reader, fields: Fields, path: string): Struct {
    const { plain, tagged } = layoutOf(fields, this.#version)
    const value: Struct = {}
    for (const [name, field] of Object.entries(fields)) value[name] = defaultOf(field)
    for (const [name, field] of plain) value[name] = this.#field(reader, field, `${path}.${name}`)
    if (!this.#flexible) return value
    const left = reader.uvarint()
    for (let i = 0; i < left; i++) {
      const tag = reader.uvarint()
      const payload = reader.bytes(reader.uvarint())
      const known = tagged.find(([, , its]) => its === tag)
      if (known === undefined) continue
      const inside = new Reader(payload)
      value[known[0]] = this.#taggedField(inside, known[1], `${path}.${known[0]}`)
      if (inside.left > 0) throw new ProtocolError(`${path}.${known[0]} is shorter than its tag says`, reader.position)
    }
    return value
  }

  #taggedField(reader: Reader, field: Field, path: string): unknown {
    if (field.type !== 'struct' || !isNullable(field, this.#version)) return this.#field(reader, field, path)
    return reader.uvarint() === 0 ? null : this.struct(reader, field.of as Fields, path)
  }

  #field(reader: Reader, field: Field, path: string): unknown {
    if (fixedSizeOf(field.type) !== undefined) return this.#fixed(reader, field.type as PrimitiveName)
    const nullable = isNullable(field, this.#version)
    if (field.type === 'struct') {
      if (nullable && reader.int8() < 0) return null
      return this.struct(reader, field.of as Fields, path)
    }
    const length = this.#length(reader, field.type, field.options.flexible !== 'none')
    if (length < 0) {
      if (!nullable) throw new ProtocolError(`${path} is null`, reader.position)
      return null
    }
    if (field.type === 'list') return this.#list(reader, field.of!, length, path)
    return field.type === 'string' ? reader.text(length) : reader.bytes(length)
  }

  #length(reader: Reader, type: Field['type'], compact: boolean): number {
    if (this.#flexible && compact) return reader.uvarint() - 1
    return type === 'string' ? reader.int16() : reader.int32()
  }

  #list(reader: Reader, of: PrimitiveName | Fields, count: number, path: string): unknown[] {
    if (count * leastSizeOf(of, this.#version, this.#flexible) > reader.left) {
      throw new ProtocolError(`${path} cannot have ${count} elements in ${reader.left} bytes`, reader.position)
    }
    this.#room -= count
    if (this.#room < 0) throw new ProtocolError(`${path} has too many elements`, reader.position)
    const values: unknown[] = []
    for (let i = 0; i < count; i++) values.push(this.#element(reader, of, path))
    return values
  }

  #element(reader: Reader, of: PrimitiveName | Fields, path: string): unknown {
    if (typeof of !== 'string') return this.struct(reader, of, path)
    if (fixedSizeOf(of) !== undefined) return this.#fixed(reader, of)
    const length = this.#length(reader, of, true)
    if (length < 0) throw new ProtocolError(`${path} has a null element`, reader.position)
    return of === 'string' ? reader.text(length) : reader.bytes(length)
  }

  #fixed(reader: Reader, type: PrimitiveName): unknown {
    assert(type !== 'string' && type !== 'bytes' && type !== 'records', 'only types of fixed size are read here')
    return reader[type]()
  }
}

class Encoding {
  readonly #version: number
  readonly #flexible: boolean
  readonly #writer: Writer

  constructor(version: number, flexible: boolean, writer: Writer) {
    this.#version = version
    this.#flexible = flexible
    this.#writer = writer
  }

  struct(value: unknown, fields: Fields, path: string): void {
    const struct = value as Struct
    const { plain, tagged, absent } = layoutOf(fields, this.#version)
    for (const [name, field] of absent) {
      if (field.options.ignorable || isDefault(field, struct[name])) continue
      throw new EncodeError(`${path}.${name} is not in version ${this.#version}`)
    }
    for (const [name, field] of plain) {
      this.#field(struct[name] === undefined ? leftOut(field) : struct[name], field, `${path}.${name}`)
    }
    if (!this.#flexible) return
    const present = tagged.filter(([name, field]) => !isDefault(field, struct[name]))
    this.#writer.uvarint(present.length)
    for (const [name, field, tag] of present) {
      this.#writer.uvarint(tag)
      const begun = this.#writer.beginTag()
      this.#taggedField(struct[name], field, `${path}.${name}`)
      this.#writer.endTag(begun)
    }
  }

  #taggedField(value: unknown, field: Field, path: string): void {
    if (field.type !== 'struct' || !isNullable(field, this.#version)) this.#field(value, field, path)
    else if (value === null) this.#writer.uvarint(0)
    else {
      this.#writer.uvarint(1)
      this.struct(value, field.of as Fields, path)
    }
  }

  #field(value: unknown, field: Field, path: string): void {
    const nullable = isNullable(field, this.#version)
    if (value === undefined || (value === null && !nullable)) throw new EncodeError(`${path} is ${value}`)
    if (fixedSizeOf(field.type) !== undefined) this.#fixed(value, field.type as PrimitiveName, path)
    else if (field.type === 'struct') {
      if (nullable) this.#writer.int8(value === null ? -1 : 1)
      if (value !== null) this.struct(value, field.of as Fields, path)
    } else {
      const compact = this.#flexible && field.options.flexible !== 'none'
      if (value === null) this.#length(-1, field.type, compact)
      else if (field.type === 'list') this.#list(value as readonly unknown[], field.of!, path)
      else this.#lengthPrefixed(value, field.type, compact)
    }
  }

  #length(length: number, type: Field['type'], compact: boolean): void {
    if (compact) this.#writer.uvarint(length + 1)
    else if (type === 'string') this.#writer.int16(length)
    else this.#writer.int32(length)
  }

  #list(values: readonly unknown[], of: PrimitiveName | Fields, path: string): void {
    this.#length(values.length, 'list', this.#flexible)
    for (const value of values) {
      if (typeof of !== 'string') this.struct(value, of, path)
      else if (value === null || value === undefined) throw new EncodeError(`${path} has a null element`)
      else if (fixedSizeOf(of) !== undefined) this.#fixed(value, of, path)
      else this.#lengthPrefixed(value, of, this.#flexible)
    }
  }

  #lengthPrefixed(value: unknown, type: Field['type'], compact: boolean): void {
    if (type === 'string') {
      if (compact) this.#writer.compactString(value as string)
      else this.#writer.string(value as string)
      return
    }
    this.#length((value as BytesInput).byteLength, type, compact)
    this.#writer.raw(value as BytesInput)
  }

  #fixed(value: unknown, type: PrimitiveName, path: string): void {
    assert(type !== 'string' && type !== 'bytes' && type !== 'records', 'only types of fixed size are written here')
    if (type === 'bool' && typeof value !== 'boolean') throw new EncodeError(`${path} cannot be ${String(value)}`)
    this.#writer[type](value as never)
  }
}

/** What stands for a property that was not given: undefined where the types ask for it. */
function leftOut(field: Field): unknown {
  const { default: value, tag } = field.options
  return value !== undefined || tag !== undefined || field.versions !== '0+' ? defaultOf(field) : undefined
}
