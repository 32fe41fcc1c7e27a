import { type Command, Option } from 'commander'
import { countOf } from '../../base/count-of.ts'
import type { Compression, Producer, ProducerRecord, RecordMetadata } from '../../client/index.ts'
import { addConnectFlags, type ConnectFlags, withClient } from '../connect.ts'
import { maxLineBytes } from '../line-splitter.ts'
import { maxInt32, Needed, oneOf, type Parse, repeated, valued, wholeNumber } from '../option-values.ts'
import { CommandFailure, printLine } from '../output.ts'
import { NotARecord, recordOfEnvelope } from '../record-json.ts'
import { sendLines } from '../send-lines.ts'
import { onStopSignal } from '../stop-signals.ts'

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
One line of standard input is one record, unless --value or --tombstone is given. It is sent when it has arrived, as the bytes
that it is. A line that cannot be sent (with -K one without the separator) ends the command with its number; those before
it are sent.
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
    .addOption(valued('-K, --key-separator <text>', 'lines are KEY, this, VALUE', separator).conflicts(keyOrValue))
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

const keyOrValue = ['key', 'value', 'tombstone']

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
      // How large a record may be is for the topic to say.
      maxRequestBytes: maxLineBytes,
    })
    let count = 0
    try {
      if (flags.value !== undefined || flags.tombstone) {
        const sent = await producer.send(make.one(flags.value ?? null))
        count = 1
        show(sent, flags)
      } else count = await sendInput(producer, make, flags)
    } finally {
      await producer.close({ timeoutMs })
    }
    if (!flags.json) process.stderr.write(`${countOf(count, 'record')} sent to ${topic}.\n`)
  })
}

async function sendInput(producer: Producer, make: RecordMaker, flags: ProduceFlags): Promise<number> {
  const stopping = new AbortController()
  onStopSignal(() => stopping.abort())
  const count = await sendLines({
    input: process.stdin,
    producer,
    recordOf: make.line,
    sent: record => show(record, flags),
    stopping: stopping.signal,
  })
  // Whoever types the lines ends them so; a file is cut short by it.
  if (stopping.signal.aborted && !process.stdin.isTTY)
    throw new CommandFailure(`stopped: ${countOf(count, 'record')} sent, the input is not at its end`)
  return count
}

function show({ topic, partition, offset, timestamp }: RecordMetadata, flags: ProduceFlags): void {
  if (flags.json) printLine({ topic, partition, offset, timestamp })
}

interface RecordMaker {
  /** `value` as given by --value; null for --tombstone. */
  one(value: string | null): ProducerRecord
  line(line: Buffer): ProducerRecord | NotARecord
}

function recordMaker(topic: string, flags: ProduceFlags): RecordMaker {
  const { header: headers = [], partition, keySeparator } = flags
  const common = { topic, headers, partition }
  const separator = keySeparator === undefined ? undefined : Buffer.from(keySeparator)
  return {
    one: value => ({ ...common, key: flags.key, value: value === 'null' && !flags.literalNull ? null : value }),
    line: line => {
      const valueFrom = (start: number) => {
        const value = line.subarray(start)
        return value.equals(nullText) && !flags.literalNull ? null : value
      }
      if (flags.fromJson) {
        const record = recordOfEnvelope(line.toString('utf8'))
        return record instanceof NotARecord ? record : { ...record, topic, partition }
      }
      if (separator === undefined) return { ...common, key: flags.key, value: valueFrom(0) }
      const at = line.indexOf(separator)
      if (at < 0) return new NotARecord(`there is no separator ${JSON.stringify(keySeparator)} in it: ${shown(line)}`)
      return { ...common, key: line.subarray(0, at), value: valueFrom(at + separator.length) }
    },
  }
}

const nullText = Buffer.from('null')

function shown(line: Buffer): string {
  const text = line.toString('utf8', 0, 100)
  return JSON.stringify(line.length > 100 ? `${text}…` : text)
}
