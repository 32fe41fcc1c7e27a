export interface Outcome {
  readonly client: string
  readonly scenario: string
  readonly result: 'passed' | 'failed' | 'skipped'
  readonly seconds: number
  /** What was wrong, or what was missing. */
  readonly detail: readonly string[]
}

const SHOWN = 8

/** A row for each client, a column for each scenario. */
export function table(outcomes: readonly Outcome[]): string {
  const scenarios = [...new Set(outcomes.map(({ scenario }) => scenario))]
  const clients = [...new Set(outcomes.map(({ client }) => client))]
  const rows = clients.map(client => {
    const cells = scenarios.map(scenario => {
      const outcome = outcomes.find(each => each.client === client && each.scenario === scenario)
      if (outcome === undefined) return ''
      return outcome.result === 'passed' ? `${outcome.seconds.toFixed(1)} s` : outcome.result
    })
    return [client, ...cells]
  })
  const all = [['client', ...scenarios], ...rows]
  const widths = all[0]!.map((_, column) => Math.max(...all.map(row => row[column]!.length)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  const [head, ...body] = all.map(line)
  return [head, line(widths.map(width => '-'.repeat(width))), ...body].join('\n')
}

/** What went wrong in one scenario, in a few lines. */
export function explain({ client, scenario, result, detail }: Outcome): string {
  const more = detail.length > SHOWN ? [`… and ${detail.length - SHOWN} more`] : []
  return [`${client} ${scenario} ${result}:`, ...detail.slice(0, SHOWN), ...more].join('\n  ')
}

/** The closing line: how many of what. */
export function totals(outcomes: readonly Outcome[]): string {
  const count = (result: Outcome['result']): number => outcomes.filter(outcome => outcome.result === result).length
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`
}
