import { createInterface } from 'node:readline'
import { type Command, Option } from 'commander'
import { countOf } from '../../base/count-of.ts'
import type { Compression, Producer, ProducerRecord } from '../../client/index.ts'
import { addConnectFlags, asFailure, type ConnectFlags, withClient } from '../connect.ts'
import { maxInt32, Needed, oneOf, type Parse, repeated, valued, wholeNumber } from '../option-values.ts'
import { printLine } from '../output.ts'
import { recordOfEnvelope } from '../record-json.ts'

interface Header {
  readonly key: string
  readonly value: string
}

interface ProduceFlags extends ConnectFlags {
  readonly key?: string
  readonly value?: string
  readonly tombstone?: true
  readonly literalNull?: true
  readonly header?: readonly Header[]
  readonly partition?: number
  readonly keySeparator?: string
  readonly compression: Compression
  readonly acks: 'all' | '1' | '0'
  readonly fromJson?: true
}

const help = `
One line of standard input is one record, unless --value or --tombstone is given.
--value null, and a line or value after -K that is just null, is a tombstone (it deletes the key on a compacted topic);
with --literal-null it is the text.

Examples:
  echo 'o1:paid' | millrace produce orders -K :
  millrace produce orders --key o1 --value paid -H source=shop
  millrace consume orders --from-beginning --exit --json | millrace produce copy --from-json`

export function addProduce(program: Command): void {
  addConnectFlags(program.command('produce <topic>'))
    .description('Send records: lines of standard input, or one that is given.')
    .option('--value <text>', 'one record with this value, in place of standard input')
    .addOption(new Option('--tombstone', 'one record without a value').conflicts('value'))
    .option('--literal-null', 'the text null is a text')
    .option('-k, --key <text>', 'the key of every record')
    .addOption(
      valued('-K, --key-separator <text>', 'lines are KEY, this, VALUE', separator).conflicts(['value', 'tombstone']),
    )
    .addOption(repeated('-H, --header <key=value>', 'a header of every record', header))
    .addOption(valued('-p, --partition <n>', 'the partition of every record', wholeNumber(0, maxInt32)))
    .addOption(valued('-z, --compression <codec>', codecs.join(', '), oneOf(...codecs)).default('none'))
    .addOption(valued('--acks <acks>', 'all, 1 or 0', oneOf('all', '1', '0')).default('all'))
    .addOption(
      new Option('--from-json', 'lines are objects as consume --json prints them').conflicts(
        // They say what each of these would.
        ['value', 'tombstone', 'key', 'keySeparator', 'header'],
      ),
    )
    .addHelpText('after', help)
    .action(run)
}

const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const

const separator: Parse<string> = text => (text === '' ? new Needed('a text between key and value') : text)

/** Its key may be empty. */
const header: Parse<Header> = text => {
  const at = text.indexOf('=')
  return at < 0 ? new Needed('KEY=VALUE') : { key: text.slice(0, at), value: text.slice(at + 1) }
}

async function run(topic: string, flags: ProduceFlags): Promise<void> {
  const make = recordMaker(topic, flags)
  await withClient(flags, async client => {
    const timeoutMs = Math.ceil(flags.timeout * 1000)
    const producer = client.producer({
      acks: flags.acks === 'all' ? 'all' : flags.acks === '1' ? 1 : 0,
      compression: flags.compression,
      maxBlockMs: timeoutMs,
      deliveryTimeoutMs: timeoutMs,
    })
    let sent = 0
    try {
      if (flags.value !== undefined || flags.tombstone)
        sent = await sendAll(producer, [make.one(flags.value ?? null)], flags)
      else sent = await sendLines(producer, make, flags)
    } finally {
      await producer.close({ timeoutMs })
    }
    if (!flags.json) process.stderr.write(`${countOf(sent, 'record')} sent to ${topic}.\n`)
  })
}

interface RecordMaker {
  /** `value` as given by --value; null for --tombstone. */
  one(value: string | null): ProducerRecord
  line(line: string): ProducerRecord
}

function recordMaker(topic: string, flags: ProduceFlags): RecordMaker {
  const { header: headers = [], partition } = flags
  const common = { topic, headers, partition }
  const asValue = (text: string | null) => (text === 'null' && !flags.literalNull ? null : text)
  return {
    one: value => ({ ...common, key: flags.key, value: asValue(value) }),
    line: line => {
      if (flags.fromJson) return { ...recordOfEnvelope(line), topic, partition }
      const { keySeparator } = flags
      const at = keySeparator === undefined ? -1 : line.indexOf(keySeparator)
      if (keySeparator === undefined || at < 0) return { ...common, key: flags.key, value: asValue(line) }
      return { ...common, key: line.slice(0, at), value: asValue(line.slice(at + keySeparator.length)) }
    },
  }
}

const linesAtOnce = 1000

async function sendLines(producer: Producer, make: RecordMaker, flags: ProduceFlags): Promise<number> {
  let sent = 0
  let batch: ProducerRecord[] = []
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    batch.push(make.line(line))
    // On a terminal every line leaves at once; from a file many do.
    if (batch.length < linesAtOnce && !process.stdin.isTTY) continue
    sent += await sendAll(producer, batch, flags)
    batch = []
  }
  return sent + (await sendAll(producer, batch, flags))
}

async function sendAll(producer: Producer, records: readonly ProducerRecord[], flags: ProduceFlags): Promise<number> {
  if (records.length === 0) return 0
  try {
    for (const { topic, partition, offset, timestamp } of await producer.sendMany(records)) {
      if (flags.json) printLine({ topic, partition, offset, timestamp })
    }
    return records.length
  } catch (error) {
    throw asFailure(error)
  }
}
