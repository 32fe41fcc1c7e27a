import assert from 'node:assert/strict'

/** Name and labels, written as Prometheus identifies a series: labels sorted, values in quotes. */
export type Series = string

interface Family {
  readonly name: string
  readonly type: string
  readonly hasHelp: boolean
}

const types: ReadonlySet<string> = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped'])
const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*/
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*/
const number = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]Inf|NaN)$/
const suffixes: Readonly<Record<string, RegExp>> = { histogram: /_(?:bucket|sum|count)$/, summary: /_(?:sum|count)$/ }

/**
 * Reads the text format of Prometheus, version 0.0.4, and throws where it is not kept: every family has HELP and TYPE, in this
 * order, once and before its samples, which follow without another family's in between; no series comes twice.
 */
export class ExpositionParser {
  readonly values = new Map<Series, number>()
  readonly types = new Map<string, string>()
  #family: Family | undefined

  static parse(text: string): ExpositionParser {
    const parser = new ExpositionParser()
    assert.ok(text.endsWith('\n'), 'the last line has an end')
    for (const line of text.slice(0, -1).split('\n')) parser.#takeLine(line)
    return parser
  }

  /** Of one series, labels in any order; it must be there. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const series = seriesOf(name, Object.entries(labels))
    const value = this.values.get(series)
    assert.ok(value !== undefined, `there is no ${series}`)
    return value
  }

  #takeLine(line: string): void {
    if (line === '') return
    assert.ok(!line.includes('\r'), line)
    if (line.startsWith('# HELP ')) this.#takeHelp(line)
    else if (line.startsWith('# TYPE ')) this.#takeType(line)
    else if (!line.startsWith('#')) this.#takeSample(line)
  }

  #takeHelp(line: string): void {
    const name = metricName.exec(line.slice(7))?.[0]
    assert.ok(name !== undefined && line[7 + name.length] === ' ', line)
    assert.ok(!this.types.has(name) && this.#family?.name !== name, `HELP of ${name} comes again, or too late`)
    assert.ok(!/\\(?![\\n])/.test(line), line)
    this.#family = { name, type: '', hasHelp: true }
  }

  #takeType(line: string): void {
    const [, name, type, ...more] = /^# TYPE (\S+) (\S+)(.*)$/.exec(line) ?? []
    assert.ok(name !== undefined && type !== undefined && more.join('') === '' && types.has(type), line)
    assert.ok(this.#family?.name === name && this.#family.hasHelp, `${name} has no HELP`)
    assert.ok(!this.types.has(name), `TYPE of ${name} comes again`)
    this.types.set(name, type)
    this.#family = { name, type, hasHelp: true }
  }

  #takeSample(line: string): void {
    const name = metricName.exec(line)?.[0]
    assert.ok(name !== undefined, line)
    const { name: family, type } = this.#family ?? { name: '', type: '' }
    const isOfFamily = name === family || (suffixes[type]?.test(name) && name.replace(suffixes[type], '') === family)
    assert.ok(type !== '' && isOfFamily, `${name} stands among ${family}`)
    const { labels, rest } = labelsOf(line.slice(name.length), line)
    // A time may follow; nobody here tells one.
    assert.ok(rest.startsWith(' ') && number.test(rest.slice(1)), line)
    const value = numberOf(rest.slice(1))
    if (type === 'counter') assert.ok(value >= 0, line)
    const series = seriesOf(name, labels)
    assert.ok(!this.values.has(series), `${series} comes twice`)
    this.values.set(series, value)
  }
}

function labelsOf(text: string, line: string): { labels: [string, string][]; rest: string } {
  const labels: [string, string][] = []
  if (!text.startsWith('{')) return { labels, rest: text }
  let left = text.slice(1)
  while (!left.startsWith('}')) {
    const name = labelName.exec(left)?.[0]
    assert.ok(name !== undefined, line)
    const value = /^="((?:[^"\\\n]|\\["\\n])*)"(,?)/.exec(left.slice(name.length))
    assert.ok(value !== null, line)
    left = left.slice(name.length + value[0].length)
    assert.ok(value[2] === ',' || left.startsWith('}'), line)
    labels.push([name, value[1].replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))])
  }
  assert.equal(new Set(labels.map(([name]) => name)).size, labels.length, line)
  return { labels, rest: left.slice(1) }
}

function seriesOf(name: string, labels: readonly (readonly [string, string])[]): Series {
  const sorted = labels.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `${name}{${sorted.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(',')}}`
}

function numberOf(text: string): number {
  return text.endsWith('Inf') ? Number(text.replace('Inf', 'Infinity')) : Number(text)
}
