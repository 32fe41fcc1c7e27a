import { type Command, CommandError, help, parseCommand } from './command-line.ts'
// Before the tripwire stands: the one loop of every world needs the real turn, and codecs need their native parts.
import './io/world.ts'
import { Tripwire } from './tripwire.ts'

/** Read before the tripwire stands: what a run may cost is real time. */
const { uptime, cpuUsage, stdout } = process
const stopwatch = {
  seconds: () => uptime.call(process),
  cpuSeconds: () => {
    const { user, system } = cpuUsage.call(process)
    return (user + system) / 1e6
  },
}
const [freshSeed] = globalThis.crypto.getRandomValues(new Uint32Array(1))

async function main(): Promise<boolean> {
  const command: Command = parseCommand(process.argv.slice(2))
  if (command.type === 'help') {
    console.log(help)
    return true
  }
  // Armed before anything of the broker is loaded. A planted bug is loaded later than that, so there it is not.
  const tripwire = command.type === 'planted' ? undefined : Tripwire.arm()
  const hunting = await import('./hunt.ts')
  return hunting.carryOut(command, {
    ...stopwatch,
    freshSeed: freshSeed ?? 0,
    assertUntouched: () => tripwire?.assertUntouched(),
    print: text => void stdout.write(`${text}\n`),
  })
}

try {
  if (!(await main())) process.exitCode = 1
} catch (error) {
  if (!(error instanceof CommandError)) throw error
  console.error(`${error.message}\n\n${help}`)
  process.exitCode = 2
}
