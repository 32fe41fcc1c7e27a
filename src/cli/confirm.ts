import { createInterface } from 'node:readline/promises'
import { CommandFailure, ExitCode } from './output.ts'

/** Asks before something is destroyed. Without a terminal `--yes` has to say so. */
export async function confirm(question: string, yes: true | undefined): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY) throw new CommandFailure(`${question} Say --yes to do it.`, ExitCode.usage)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure('Nothing was done.')
}
