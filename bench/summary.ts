import { type Measured, significant } from './rounds.ts'
import type { Metric } from './workload.ts'

export interface Ratio {
  readonly median: number
  readonly least: number
  readonly most: number
}

export interface Row {
  readonly workload: string
  readonly title: string
  readonly metric: Metric
  /** Median of each system's figures. */
  readonly medians: Readonly<Record<string, number>>
  /** Of each system but the first: its figure over the first's, round by round. */
  readonly ratios: Readonly<Record<string, Ratio>>
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** A row for each metric of each workload. The first system is the one that the others are compared with. */
export function summarize(measured: readonly Measured[], names: readonly string[]): Row[] {
  const [base, ...others] = names
  return measured.flatMap(({ workload, figures }) =>
    workload.metrics.map(metric => {
      const of = (name: string): number[] => figures.get(name)!.map(each => each[metric.name]!)
      const ratios = others.map(name => {
        const pairs = of(name).map((figure, round) => figure / of(base!)[round]!)
        return [name, { median: median(pairs), least: Math.min(...pairs), most: Math.max(...pairs) }]
      })
      const medians = names.map(name => [name, median(of(name))])
      const { name, title } = workload
      return { workload: name, title, metric, medians: Object.fromEntries(medians), ratios: Object.fromEntries(ratios) }
    }),
  )
}

export function meetsBar({ metric }: Row, { median: ratio }: Ratio): boolean | undefined {
  if (metric.bar === undefined) return undefined
  return metric.better === 'less' ? ratio <= metric.bar : ratio >= metric.bar
}

/** As markdown: each system's median, then for each but the first the median ratio with its spread over the rounds. */
export function markdown(rows: readonly Row[], names: readonly string[]): string {
  const others = names.slice(1)
  const heads = [...names, ...others.map(name => `${name} / ${names[0]}`)]
  const head = ['workload', 'metric', ...heads, ...(others.length > 0 ? ['bar'] : [])]
  const lines = rows.map(row => {
    const figures = names.map(name => `${significant(row.medians[name]!)} ${row.metric.unit}`)
    const ratios = others.map(name => ratioCell(row, row.ratios[name]!))
    const bar = row.metric.bar === undefined ? '' : `${row.metric.better === 'less' ? '≤' : '≥'} ${row.metric.bar}`
    return [row.title, row.metric.name, ...figures, ...ratios, ...(others.length > 0 ? [bar] : [])]
  })
  return [head, head.map(() => '---'), ...lines].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

function ratioCell(row: Row, ratio: Ratio): string {
  const met = meetsBar(row, ratio)
  const mark = met === undefined ? '' : met ? ' ✓' : ' ✗'
  return `${ratio.median.toFixed(2)} (${ratio.least.toFixed(2)}–${ratio.most.toFixed(2)})${mark}`
}
