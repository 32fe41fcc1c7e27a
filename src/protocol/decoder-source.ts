import { defaultSource } from './default-source.ts'
import { fixedSizeOf, isNullable, layoutOf, leastSizeOf } from './layout.ts'
import type { Field, Fields, Message, PrimitiveName } from './schema.ts'

/**
 * JavaScript for the body of a function (h) => (r) => value that decodes one version of a message. It has no
 * branch on the version, checks the bytes left once for each run of fields of fixed size, and keeps the position in a
 * local. In it: r the reader, b its buffer, p the position, end where reading must stop, room the elements that lists
 * may still hold, h the functions of `decoding` in `codec.ts`.
 */
export function decoderSource(message: Message, version: number): string {
  return new DecoderSource(version, version >= message.flexibleFrom).write(message)
}

class DecoderSource {
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
    this.#line('const { fail, short, uvarint, skipTags, text, int64, noBytes } = h')
    this.#line(`return function decode${message.name}V${this.#version}(r) {`)
    this.#line('const b = r.buffer')
    this.#line('let p = r.position, end = r.end, room = r.maxElements')
    const value = this.#struct(message.fields, message.name)
    this.#line(`const value = ${value}`)
    this.#line('r.position = p')
    this.#line('return value')
    this.#line('}')
    return this.#lines.join('\n')
  }

  #line(text: string): void {
    this.#lines.push(text)
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`
  }

  /** Writes the statements that read a struct and returns the expression of its value: always of the same shape. */
  #struct(fields: Fields, path: string): string {
    const { plain, tagged, absent } = layoutOf(fields, this.#version)
    const variables = new Map<string, string>()
    for (const [name, field] of absent) variables.set(name, defaultSource(field))
    let run: [string, Field][] = []
    for (const [name, field] of plain) {
      if (fixedSizeOf(field.type) !== undefined) {
        run.push([name, field])
        continue
      }
      this.#fixedRun(run, path, variables)
      run = []
      variables.set(name, this.#variable(field, `${path}.${name}`))
    }
    this.#fixedRun(run, path, variables)
    if (this.#flexible) this.#taggedSection(tagged, path, variables)
    const properties = Object.keys(fields).map(name => `${name}: ${variables.get(name)}`)
    return `{ ${properties.join(', ')} }`
  }

  #fixedRun(run: readonly [string, Field][], path: string, variables: Map<string, string>): void {
    if (run.length === 0) return
    const size = run.reduce((sum, [, field]) => sum + fixedSizeOf(field.type)!, 0)
    this.#need(size, `${path}.${run[0][0]}`)
    let at = 0
    for (const [name, field] of run) {
      const variable = this.#name('v')
      this.#line(`const ${variable} = ${fixedSource(field.type as PrimitiveName, at)}`)
      variables.set(name, variable)
      at += fixedSizeOf(field.type)!
    }
    this.#line(`p += ${size}`)
  }

  #need(size: number | string, path: string): void {
    this.#line(`if (end - p < ${size}) short(p, ${size}, end, '${path}')`)
  }

  /** Reads a field of varying size into a new variable and returns its name. */
  #variable(field: Field, path: string): string {
    const variable = this.#name('v')
    this.#line(`let ${variable}`)
    this.#into(variable, field, path)
    return variable
  }

  #into(variable: string, field: Field, path: string): void {
    const nullable = isNullable(field, this.#version)
    if (field.type === 'struct') this.#structInto(variable, field, nullable, path)
    else if (field.type === 'list') this.#listInto(variable, field.of!, nullable, path)
    else this.#lengthPrefixed(variable, field.type, nullable, path, field.options.flexible !== 'none')
  }

  #structInto(variable: string, field: Field, nullable: boolean, path: string): void {
    if (!nullable) {
      this.#line(`${variable} = ${this.#struct(field.of as Fields, path)}`)
      return
    }
    this.#need(1, path)
    this.#line(`if (b[p++] > 127) ${variable} = null`)
    this.#line('else {')
    this.#line(`${variable} = ${this.#struct(field.of as Fields, path)}`)
    this.#line('}')
  }

  #listInto(variable: string, of: PrimitiveName | Fields, nullable: boolean, path: string): void {
    const count = this.#length('list', path, true)
    const least = leastSizeOf(of, this.#version, this.#flexible)
    this.#nullOr(variable, count, nullable, path)
    this.#line(`if (${count} > (end - p) / ${least}) short(p, ${count} * ${least}, end, '${path}')`)
    this.#line(`if ((room -= ${count}) < 0) fail('${path} has too many elements', p)`)
    this.#line(`${variable} = []`)
    this.#line(`for (let i = 0; i < ${count}; i++) {`)
    this.#line(`${variable}.push(${this.#element(of, path)})`)
    this.#line('}')
    this.#line('}')
  }

  #element(of: PrimitiveName | Fields, path: string): string {
    if (typeof of !== 'string') return this.#struct(of, path)
    const size = fixedSizeOf(of)
    const variable = this.#name('v')
    if (size === undefined) {
      this.#line(`let ${variable}`)
      this.#lengthPrefixed(variable, of, false, path, true)
    } else {
      // The count was checked against the bytes left, so all elements are there.
      this.#line(`const ${variable} = ${fixedSource(of, 0)}`)
      this.#line(`p += ${size}`)
    }
    return variable
  }

  /** Reads the length of a string, of bytes or of a list into a new variable; a negative one means null. */
  #length(type: Field['type'], path: string, compact: boolean): string {
    const length = this.#name('n')
    if (this.#flexible && compact) {
      this.#line(`let ${this.#uvarint(length, path)} ${length}--`)
    } else if (type === 'string') {
      this.#need(2, path)
      this.#line(`const ${length} = ${fixedSource('int16', 0)}; p += 2`)
    } else {
      this.#need(4, path)
      this.#line(`const ${length} = ${fixedSource('int32', 0)}; p += 4`)
    }
    return length
  }

  /** The statements that declare (after a `let`) and read a varint; one byte is the fast way. */
  #uvarint(variable: string, path: string): string {
    return (
      `${variable} = p < end ? b[p++] : short(p, 1, end, '${path}'); ` +
      `if (${variable} > 127) { ${variable} = uvarint(r, p - 1, end, '${path}'); p = r.position }`
    )
  }

  /** Opens the block in which the length is not negative. */
  #nullOr(variable: string, length: string, nullable: boolean, path: string): void {
    if (nullable) this.#line(`if (${length} < 0) ${variable} = null`)
    else this.#line(`if (${length} < 0) fail('${path} is null', p)`)
    this.#line('else {')
  }

  #lengthPrefixed(variable: string, type: Field['type'], nullable: boolean, path: string, compact: boolean): void {
    const length = this.#length(type, path, compact)
    this.#nullOr(variable, length, nullable, path)
    this.#need(length, path)
    const source = type === 'string' ? `text(b, p, ${length})` : `b.subarray(p, p + ${length})`
    this.#line(`${variable} = ${source}`)
    this.#line(`p += ${length}`)
    this.#line('}')
  }

  #taggedSection(
    tagged: readonly (readonly [string, Field, number])[],
    path: string,
    variables: Map<string, string>,
  ): void {
    if (tagged.length === 0) {
      this.#line('if (p < end && b[p] === 0) p++; else p = skipTags(r, p, end)')
      return
    }
    for (const [name] of tagged) {
      const variable = this.#name('v')
      this.#line(`let ${variable}`)
      variables.set(name, variable)
    }
    this.#line('if (p < end && b[p] === 0) p++')
    this.#line('else {')
    this.#line(`let ${this.#uvarint('count', path)}`)
    this.#line('for (; count > 0; count--) {')
    this.#line(`let ${this.#uvarint('tag', path)}`)
    this.#line(`let ${this.#uvarint('size', path)}`)
    this.#need('size', path)
    this.#line('const outer = end')
    this.#line('end = p + size')
    this.#line('switch (tag) {')
    for (const [name, field, tag] of tagged) this.#taggedField(field, tag, variables.get(name)!, `${path}.${name}`)
    this.#line('default: p = end')
    this.#line('}')
    this.#line('end = outer')
    this.#line('}')
    this.#line('}')
    for (const [name, field] of tagged) {
      const variable = variables.get(name)!
      this.#line(`if (${variable} === undefined) ${variable} = ${defaultSource(field)}`)
    }
  }

  #taggedField(field: Field, tag: number, variable: string, path: string): void {
    this.#line(`case ${tag}: {`)
    if (field.type === 'struct' && isNullable(field, this.#version)) {
      const marker = this.#name('n')
      this.#line(`let ${this.#uvarint(marker, path)}`)
      this.#line(`if (${marker} === 0) ${variable} = null`)
      this.#line('else {')
      this.#line(`${variable} = ${this.#struct(field.of as Fields, path)}`)
      this.#line('}')
    } else if (fixedSizeOf(field.type) !== undefined) {
      this.#need(fixedSizeOf(field.type)!, path)
      this.#line(`${variable} = ${fixedSource(field.type as PrimitiveName, 0)}`)
      this.#line(`p += ${fixedSizeOf(field.type)}`)
    } else this.#into(variable, field, path)
    this.#line(`if (p !== end) fail('${path} is shorter than its tag says', p)`)
    this.#line('break')
    this.#line('}')
  }
}

/** An expression for a value of fixed size that lies `at` bytes behind p. */
function fixedSource(type: PrimitiveName, at: number): string {
  const byte = (i: number) => (at + i === 0 ? 'b[p]' : `b[p + ${at + i}]`)
  const word = (i: number) => `(${byte(i)} << 24 | ${byte(i + 1)} << 16 | ${byte(i + 2)} << 8 | ${byte(i + 3)})`
  const place = at === 0 ? 'p' : `p + ${at}`
  switch (type) {
    case 'bool':
      return `${byte(0)} !== 0`
    case 'int8':
      return `${byte(0)} << 24 >> 24`
    case 'int16':
      return `(${byte(0)} << 24 | ${byte(1)} << 16) >> 16`
    case 'uint16':
      return `(${byte(0)} << 8 | ${byte(1)})`
    case 'int32':
      return word(0)
    case 'uint32':
      return `${word(0)} >>> 0`
    case 'int64':
      return `int64(${word(0)}, ${word(4)})`
    case 'bigint64':
      return `b.readBigInt64BE(${place})`
    case 'float64':
      return `b.readDoubleBE(${place})`
    default:
      return `b.toString('base64url', ${place}, ${place} + 16)`
  }
}
