import type { Report } from './command.ts'

/** How much the ratio to Kafka may worsen from the first workload to the others. */
const BAR = 1.25

/** For a series of workloads that differ in one number: how the ratio to Kafka changes along it, above 1 for the worse. */
export function printDrift({ rows, systems }: Report): void {
  const [first] = rows
  if (systems.length < 2 || first === undefined) return
  const baseline = new Map(rows.filter(row => row.workload === first.workload).map(row => [row.metric.name, row]))
  const heads = ['workload', 'metric', ...systems.slice(1)]
  console.log(`\nRatio to ${systems[0]} against that of ${first.title}; above 1 is worse, the bar is ${BAR}.\n`)
  console.log(`| ${heads.join(' | ')} |\n|${' --- |'.repeat(heads.length)}`)
  for (const row of rows.filter(each => each.workload !== first.workload)) {
    const cells = systems.slice(1).map(name => {
      const change = row.ratios[name]!.median / baseline.get(row.metric.name)!.ratios[name]!.median
      const worse = row.metric.better === 'less' ? change : 1 / change
      return `${worse.toFixed(2)}${worse <= BAR ? ' ✓' : ' ✗'}`
    })
    console.log(`| ${[row.title, row.metric.name, ...cells].join(' | ')} |`)
  }
}
