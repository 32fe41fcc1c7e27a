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
  const options = { withRecords: flags.records ?? false, show: dumpPrinter(flags.json ?? false) }
  await eachPath(paths, async path => {
    const shown = await dump(disk, resolve(path), options)
    if (shown === 0) throw new CommandFailure(`${path}: there are no files of a log here`, ExitCode.notChecked)
  })
}

async function runVerify(paths: string[], flags: { readonly json?: true }): Promise<void> {
  const disk = nodeIo({ log: consoleLogSink() }).disk
  const report = (problem: Problem) => {
    if (flags.json) printLine({ type: 'problem', ...problem })
    else process.stdout.write(`${problemText(problem)}\n`)
  }
  await eachPath(paths, async path => {
    const { partitions, bytes, problems } = verifiedOf(path, await verify(disk, resolve(path), report))
    const summary = { type: 'verified', path: resolve(path), partitions, bytes, problems }
    print(summary, flags.json, () => {
      const checked = `${countOf(partitions, 'partition')}, ${countOf(bytes, 'byte')} of batches`
      return `${path}: ${problems === 0 ? 'all is well' : countOf(problems, 'problem')} (${checked})`
    })
    if (problems > 0) process.exitCode = ExitCode.failed
  })
}

/** One that cannot be looked at keeps nobody from the others. Problems that were found count more. */
async function eachPath(paths: readonly string[], work: (path: string) => Promise<void>): Promise<void> {
  for (const path of paths) {
    try {
      await work(path)
    } catch (error) {
      process.stderr.write(`${whyNotChecked(path, error)}\n`)
      process.exitCode ??= ExitCode.notChecked
    }
  }
}

function whyNotChecked(path: string, error: unknown): string {
  if (error instanceof CommandFailure) return error.message
  if (!(error instanceof DiskError)) throw error
  return `${path}: ${error.code === 'notFound' ? 'there is no such file or directory' : error.message}`
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
