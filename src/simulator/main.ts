import { drawPlan } from './plan.ts'
import { runPlan } from './run.ts'

const seed = process.argv[process.argv.indexOf('--seed') + 1] ?? '1'
const from = Number(seed)
const count = process.argv.includes('--count') ? Number(process.argv[process.argv.indexOf('--count') + 1]) : 1
for (let i = 0; i < count; i++) {
  const plan = drawPlan(from + i)
  const result = await runPlan(plan)
  console.log(
    result.seed,
    result.hash,
    result.events,
    Math.round(result.simulatedMs),
    result.calls,
    plan.flush,
    '',
    result.violationCount,
  )
  if (result.violationCount > 0) {
    for (const { invariant, text } of result.violations) console.log(invariant, text)
    if (process.argv.includes('--log')) console.log(result.log.slice(-400).join('\n'))
    process.exitCode = 1
  }
}
