import { globSync } from 'node:fs'
import { join } from 'node:path'
import { kafkaTool } from './kafka/kafka-tool.ts'

/**
 * What Kafka's tool prints when a file displeases it. Of a gap it prints `206 is followed by 208`; that -1 is followed by
 * the first offset of every segment but a partition's first is its way of beginning.
 */
const COMPLAINT =
  /mismatch|^\s*\d+ is followed by|out of order|isvalid: false|corrupt|exception|\berror\b|could not|unexpected|unknown|not valid|invalid/i

/** Files in a log directory that the tool understands, by how it must be told to read them. */
const KINDS = [
  { glob: '[!_]*/*.log', options: ['--deep-iteration', '--print-data-log'] },
  { glob: '*/*.{index,timeindex,txnindex,snapshot}', options: [] },
  { glob: '__consumer_offsets-*/*.log', options: ['--offsets-decoder', '--deep-iteration'] },
  { glob: '__transaction_state-*/*.log', options: ['--transaction-log-decoder', '--deep-iteration'] },
  { glob: '__cluster_metadata-0/*.{log,checkpoint}', options: ['--cluster-metadata-decoder'] },
] as const

export interface Dumped {
  readonly files: number
  readonly complaints: readonly string[]
}

/** Has Kafka's own kafka-dump-log read every file of a log directory. */
export async function dumpLogDir(logDir: string): Promise<Dumped> {
  let count = 0
  const complaints: string[] = []
  for (const { glob, options } of KINDS) {
    const files = globSync(glob, { cwd: logDir })
      .sort()
      .map(file => join(logDir, file))
    if (files.length === 0) continue
    count += files.length
    const { code, stdout, stderr } = await kafkaTool('DumpLogSegments', [...options, '--files', files.join(',')])
    const lines = `${stdout}\n${stderr}`.split('\n')
    if (code !== 0) complaints.push(`kafka-dump-log ended with ${code}: ${stderr.slice(-2000)}`)
    complaints.push(...lines.filter(line => COMPLAINT.test(withoutData(line))))
  }
  return { files: count, complaints }
}

/** A user's bytes may say anything. */
function withoutData(line: string): string {
  return line.replace(/ (?:key|payload): .*$/, '')
}
