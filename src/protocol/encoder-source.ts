import { defaultSource } from './default-source.ts'
import { fixedSizeOf, isNullable, layoutOf } from './layout.ts'
import type { Field, Fields, Message, PrimitiveName } from './schema.ts'

/**
 * JavaScript for the body of a function (h) => (w, value) => void that encodes one version of a message. Room is made
 * once for each run of fields of fixed size. In it: w the writer, b and d its chunk as bytes and as DataView, p the
 * position, limit the length of the chunk, h the functions of `encoding` in `codec.ts`. What may replace the chunk
 * (any method of w) stands between SAVE and LOAD.
 */
export function encoderSource(message: Message, version: number): string {
  return new EncoderSource(version, version >= message.flexibleFrom).write(message)
}

const save = 'w.position = p'
const load = 'p = w.position; b = w.bytes; d = w.view; limit = b.length'

class EncoderSource {
  readonly #version: number
  readonly #flexible: boolean
  readonly #lines: string[] = []
  #names = 0

  constructor(version: number, flexible: boolean) {
    this.#version = version
    this.#flexible = flexible
  }

  write(message: Message): string {
    this.#line(`'use strict'`)
    this.#line('const { bad, missing, int64, noBytes } = h')
    this.#line(`return function encode${message.name}V${this.#version}(w, value) {`)
    this.#line('let b = w.bytes, d = w.view, p = w.position, limit = b.length')
    this.#struct('value', message.fields, message.name)
    this.#line(save)
    this.#line('}')
    return this.#lines.join('\n')
  }

  #line(text: string): void {
    this.#lines.push(text)
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`
  }

  #struct(value: string, fields: Fields, path: string): void {
    const { plain, tagged, absent } = layoutOf(fields, this.#version)
    for (const [name, field] of absent) this.#mustBeDefault(`${value}.${name}`, field, `${path}.${name}`)
    let run: [string, Field][] = []
    for (const [name, field] of plain) {
      if (fixedSizeOf(field.type) !== undefined) {
        run.push([name, field])
        continue
      }
      this.#fixedRun(value, run, path)
      run = []
      this.#field(this.#read(`${value}.${name}`, field), field, `${path}.${name}`)
    }
    this.#fixedRun(value, run, path)
    if (this.#flexible) this.#taggedSection(value, tagged, path)
  }

  #mustBeDefault(value: string, field: Field, path: string): void {
    if (field.options.ignorable) return
    this.#line(`if (${nonDefaultSource(value, field)}) missing('${path}', ${this.#version})`)
  }

  /** Reads a property into a new variable, with the field's default in place of undefined where it has one. */
  #read(value: string, field: Field): string {
    const variable = this.#name('v')
    this.#line(`let ${variable} = ${value}`)
    if (mayBeLeftOut(field)) this.#line(`if (${variable} === undefined) ${variable} = ${defaultSource(field)}`)
    return variable
  }

  #reserve(size: number | string): void {
    this.#line(`if (limit - p < ${size}) { ${save}; w.reserve(${size}); ${load} }`)
  }

  #fixedRun(value: string, run: readonly [string, Field][], path: string): void {
    if (run.length === 0) return
    this.#reserve(run.reduce((sum, [, field]) => sum + fixedSizeOf(field.type)!, 0))
    for (const [name, field] of run) {
      this.#fixed(this.#read(`${value}.${name}`, field), field.type as PrimitiveName, `${path}.${name}`)
    }
  }

  /** Writes a value of fixed size for which there is room. */
  #fixed(value: string, type: PrimitiveName, path: string): void {
    const check = (wrong: string) => this.#line(`if (${wrong}) bad('${path}', ${value})`)
    switch (type) {
      case 'bool':
        check(`typeof ${value} !== 'boolean'`)
        this.#line(`b[p++] = ${value} ? 1 : 0`)
        return
      case 'int8':
        check(`${value} << 24 >> 24 !== ${value}`)
        this.#line(`b[p++] = ${value}`)
        return
      case 'int16':
        check(`${value} << 16 >> 16 !== ${value}`)
        this.#line(`d.setInt16(p, ${value}); p += 2`)
        return
      case 'uint16':
        check(`(${value} & 65535) !== ${value}`)
        this.#line(`d.setUint16(p, ${value}); p += 2`)
        return
      case 'int32':
        check(`(${value} | 0) !== ${value}`)
        this.#line(`d.setInt32(p, ${value}); p += 4`)
        return
      case 'uint32':
        check(`${value} >>> 0 !== ${value}`)
        this.#line(`d.setUint32(p, ${value}); p += 4`)
        return
      case 'int64':
        this.#line(`if ((${value} | 0) === ${value}) { d.setInt32(p, ${value} >> 31); d.setInt32(p + 4, ${value}) }`)
        this.#line(`else int64(d, p, ${value}, '${path}')`)
        this.#line('p += 8')
        return
      case 'bigint64':
      case 'float64':
      case 'uuid':
        check(`${value} == null`)
        this.#line(`${save}; w.${type}(${value}); ${load}`)
        return
      default:
        throw new TypeError(`${type} has no fixed size`)
    }
  }

  #field(value: string, field: Field, path: string): void {
    if (!isNullable(field, this.#version)) {
      this.#line(`if (${value} == null) bad('${path}', ${value})`)
      this.#notNull(value, field, path)
      return
    }
    this.#line(`if (${value} === undefined) bad('${path}', ${value})`)
    this.#line(`if (${value} === null) {`)
    this.#null(field)
    this.#line('} else {')
    if (field.type === 'struct') {
      this.#reserve(1)
      this.#line('b[p++] = 1')
    }
    this.#notNull(value, field, path)
    this.#line('}')
  }

  #null(field: Field): void {
    if (field.type === 'struct') {
      this.#reserve(1)
      this.#line('b[p++] = 255')
    } else if (this.#flexible && field.options.flexible !== 'none') {
      this.#reserve(1)
      this.#line('b[p++] = 0')
    } else {
      const size = field.type === 'string' ? 2 : 4
      this.#reserve(size)
      this.#line(`d.setInt${8 * size}(p, -1); p += ${size}`)
    }
  }

  #notNull(value: string, field: Field, path: string): void {
    if (field.type === 'struct') this.#struct(value, field.of as Fields, path)
    else if (field.type === 'list') this.#list(value, field.of!, path)
    else this.#lengthPrefixed(value, field.type, this.#flexible && field.options.flexible !== 'none')
  }

  #lengthPrefixed(value: string, type: Field['type'], compact: boolean): void {
    if (type === 'string') {
      this.#line(`${save}; w.${compact ? 'compactString' : 'string'}(${value}); ${load}`)
      return
    }
    this.#length(`${value}.byteLength`, compact)
    this.#line(`${save}; w.raw(${value}); ${load}`)
  }

  /** Writes the length of a list or of bytes. */
  #length(length: string, compact: boolean): void {
    this.#reserve(5)
    if (!compact) {
      this.#line(`d.setInt32(p, ${length}); p += 4`)
      return
    }
    this.#line(`if (${length} < 127) b[p++] = ${length} + 1`)
    this.#line(`else { ${save}; w.uvarint(${length} + 1); ${load} }`)
  }

  #list(value: string, of: PrimitiveName | Fields, path: string): void {
    const index = this.#name('i')
    const element = this.#name('v')
    this.#length(`${value}.length`, this.#flexible)
    const size = typeof of === 'string' ? fixedSizeOf(of) : undefined
    if (size !== undefined) this.#reserve(`${size} * ${value}.length`)
    this.#line(`for (let ${index} = 0; ${index} < ${value}.length; ${index}++) {`)
    this.#line(`const ${element} = ${value}[${index}]`)
    if (typeof of !== 'string') this.#struct(element, of, path)
    else if (size !== undefined) this.#fixed(element, of, path)
    else {
      this.#line(`if (${element} == null) bad('${path}', ${element})`)
      this.#lengthPrefixed(element, of, this.#flexible)
    }
    this.#line('}')
  }

  #taggedSection(value: string, tagged: readonly (readonly [string, Field, number])[], path: string): void {
    if (tagged.length === 0) {
      this.#reserve(1)
      this.#line('b[p++] = 0')
      return
    }
    const present: string[] = []
    for (const [name, field] of tagged) {
      const flag = this.#name('t')
      this.#line(`const ${flag} = ${nonDefaultSource(`${value}.${name}`, field)}`)
      present.push(flag)
    }
    this.#reserve(1)
    this.#line(`b[p++] = ${present.map(flag => `(${flag} ? 1 : 0)`).join(' + ')}`)
    for (const [i, [name, field, tag]] of tagged.entries()) {
      this.#line(`if (${present[i]}) {`)
      this.#taggedField(`${value}.${name}`, field, tag, `${path}.${name}`)
      this.#line('}')
    }
  }

  #taggedField(property: string, field: Field, tag: number, path: string): void {
    const value = this.#name('v')
    const begun = this.#name('n')
    this.#line(`const ${value} = ${property}`)
    this.#reserve(1 + 5)
    this.#line(`b[p++] = ${tag}`)
    const size = fixedSizeOf(field.type)
    if (size !== undefined) {
      this.#reserve(1 + size)
      this.#line(`b[p++] = ${size}`)
      this.#fixed(value, field.type as PrimitiveName, path)
      return
    }
    this.#line(`${save}; const ${begun} = w.beginTag(); ${load}`)
    if (field.type === 'struct' && isNullable(field, this.#version)) this.#nullableStructInTag(value, field, path)
    else this.#field(value, field, path)
    this.#line(`${save}; w.endTag(${begun}); ${load}`)
  }

  #nullableStructInTag(value: string, field: Field, path: string): void {
    this.#reserve(1)
    this.#line(`if (${value} === null) b[p++] = 0`)
    this.#line('else {')
    this.#line('b[p++] = 1')
    this.#struct(value, field.of as Fields, path)
    this.#line('}')
  }
}

/** As the types say: without a default, only fields that are in every version must be given. */
function mayBeLeftOut(field: Field): boolean {
  return field.options.default !== undefined || field.options.tag !== undefined || field.versions !== '0+'
}

/** An expression that is true when the property holds something else than its default. */
function nonDefaultSource(value: string, field: Field): string {
  const test = `${value} !== undefined && `
  if (field.options.default === null) return `(${test}${value} !== null)`
  switch (field.type) {
    case 'bytes':
    case 'records':
      return `(${test}(${value} === null || ${value}.byteLength !== 0))`
    case 'list':
      return `(${test}(${value} === null || ${value}.length !== 0))`
    case 'struct': {
      const members = Object.entries(field.of as Fields).map(([name, inner]) =>
        nonDefaultSource(`${value}.${name}`, inner),
      )
      return `(${test}(${value} === null || ${members.join(' || ')}))`
    }
    default:
      return `(${test}${value} !== ${defaultSource(field)})`
  }
}
