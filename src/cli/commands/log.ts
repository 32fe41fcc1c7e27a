import { resolve } from 'node:path'
import type { Command } from 'commander'
import { countOf } from '../../base/count-of.ts'
import { DiskError } from '../../io/disk.ts'
import { consoleLogSink } from '../../io/node/console-log-sink.ts'
import { nodeIo } from '../../io/node/node-io.ts'
import { dump } from '../../storage/dump/dump.ts'
import { type Problem, type VerifyResult, verify } from '../../storage/dump/verify.ts'
import { dumpPrinter } from '../dump-text.ts'
import { CommandFailure, ExitCode, print, printLine } from '../output.ts'

const dumpHelp = `
A path is a file, a partition's directory, or a log directory. Nothing is changed; a broker may be running.
Records of the metadata log, of committed offsets and of other internal topics are decoded by their type.

Examples:
  millrace log dump data/orders-0
  millrace log dump --records data/__cluster_metadata-0/00000000000000000000.log
  millrace log dump --records --json data/__consumer_offsets-7 | jq 'select(.type == "record")'`

const verifyHelp = `
A path is a partition's directory or a log directory, Kafka's or Millrace's, of a broker that is stopped. Nothing is changed.
Compared with one another: CRCs, offsets and leader epochs of batches, indexes, producer snapshots, checkpoints, snapshots
of the metadata log. Exit code: 0 all is well, 1 there are problems (a line each), 3 it could not be checked.

Examples:
  millrace log verify data
  millrace log verify --json data/orders-0`

export function addLog(program: Command): void {
  const log = program.command('log').description('Look into the files of a partition or log directory.')
  log
    .command('dump <paths...>')
    .description('Print batches, index entries, producer snapshots, checkpoints.')
    .option('-r, --records', 'print the records of each batch too')
    .option('--json', 'print JSON, an object a line')
    .addHelpText('after', dumpHelp)
    .action(runDump)
  log
    .command('verify <paths...>')
    .description('Check that files are whole and agree with one another.')
    .option('--json', 'print JSON')
    .addHelpText('after', verifyHelp)
    .action(runVerify)
}

async function runDump(paths: string[], flags: { readonly records?: true; readonly json?: true }): Promise<void> {
  const disk = nodeIo({ log: consoleLogSink() }).disk
  for (const path of paths) {
    const printer = dumpPrinter(flags.json ?? false)
    const options = { withRecords: flags.records ?? false, show: printer }
    const shown = await checkable(path, () => dump(disk, resolve(path), options))
    if (shown === 0) throw new CommandFailure(`${path}: there are no files of a log here`, ExitCode.notChecked)
  }
}

async function runVerify(paths: string[], flags: { readonly json?: true }): Promise<void> {
  const disk = nodeIo({ log: consoleLogSink() }).disk
  const report = (problem: Problem) => {
    if (flags.json) printLine({ type: 'problem', ...problem })
    else process.stdout.write(`${problemText(problem)}\n`)
  }
  let problems = 0
  for (const path of paths) {
    const result = await checkable(path, () => verify(disk, resolve(path), report))
    const { partitions, bytes } = verifiedOf(path, result)
    problems += verifiedOf(path, result).problems
    const summary = {
      type: 'verified',
      path: resolve(path),
      partitions,
      bytes,
      problems: verifiedOf(path, result).problems,
    }
    print(summary, flags.json, one => {
      const checked = `${countOf(one.partitions, 'partition')}, ${one.bytes} bytes of batches`
      return `${path}: ${one.problems === 0 ? 'all is well' : countOf(one.problems, 'problem')} (${checked})`
    })
  }
  if (problems > 0) process.exitCode = ExitCode.failed
}

function problemText({ path, position, problem, isMended }: Problem): string {
  const mended = isMended ? ' (the next start mends it)' : ''
  return `${path}${position === undefined ? '' : ` at ${position}`}: ${problem}${mended}`
}

function verifiedOf(path: string, result: VerifyResult): VerifyResult & { readonly type: 'verified' } {
  if (result.type === 'verified') return result
  throw new CommandFailure(
    result.type === 'inUse'
      ? `${result.path} is in use by a broker: stop it first, or verify a copy`
      : `${path} is neither a partition's directory nor a log directory`,
    ExitCode.notChecked,
  )
}

async function checkable<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DiskError)) throw error
    const reason = error.code === 'notFound' ? 'there is no such file or directory' : error.message
    throw new CommandFailure(`${path}: ${reason}`, ExitCode.notChecked)
  }
}
