import type { Scrape } from './scrape.ts'

/** One series: the text of its labels (`labels`), empty for none, and its value. */
export type Sample = readonly [labels: string, value: number]

/** All series of one name. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  /** None at all where the machine does not tell. */
  readonly samples: (scrape: Scrape) => Iterable<Sample>
}

export function gauge(name: string, help: string, samples: MetricFamily['samples']): MetricFamily {
  return { name, help, type: 'gauge', samples }
}

export function counter(name: string, help: string, samples: MetricFamily['samples']): MetricFamily {
  return { name, help, type: 'counter', samples }
}

/** A gauge without labels. */
export function oneGauge(name: string, help: string, value: (scrape: Scrape) => number): MetricFamily {
  return gauge(name, help, scrape => [['', value(scrape)]])
}

/** A counter without labels. */
export function oneCounter(name: string, help: string, value: (scrape: Scrape) => number): MetricFamily {
  return counter(name, help, scrape => [['', value(scrape)]])
}

/** As they stand in the text: `topic="a",partition="0"`. */
export function labels(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${typeof value === 'number' ? value : escaped(value)}"`)
    .join(',')
}

function escaped(text: string): string {
  return text.replace(/[\\"\n]/g, character => (character === '\n' ? '\\n' : `\\${character}`))
}

export function headOf({ name, help, type }: MetricFamily): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

export function lineOf(name: string, [labelText, value]: Sample): string {
  return labelText === '' ? `${name} ${valueText(value)}\n` : `${name}{${labelText}} ${valueText(value)}\n`
}

function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}
