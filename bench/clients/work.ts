/** The process of one client: does one piece of work, prints what it took as JSON, and ends. */
import type { ConnectClient, MeasuredClient, PlainRecord } from './measured-client.ts'

export interface Work {
  readonly client: string
  readonly packages: string
  readonly bootstrap: string
  readonly topic: string
  readonly mode: 'produce' | 'consume'
  readonly records: number
  readonly sizeBytes: number
  readonly partitions: number
}

/** Of this process, its threads included. */
export interface Took {
  readonly seconds: number
  readonly cpuSeconds: number
}

const sendsAtOnce = 5
const recordsOfSend = 1000

const work = JSON.parse(process.argv[2]!) as Work
const { connect } = (await import(`./${work.client}.ts`)) as { readonly connect: ConnectClient }
const client = await connect(work.bootstrap, work.packages)
const took = work.mode === 'produce' ? await produce(client) : await consume(client)
process.stdout.write(`${JSON.stringify(took)}\n`)
await client.close()
process.exit(0)

async function produce(client: MeasuredClient): Promise<Took> {
  const sends = Math.ceil(work.records / recordsOfSend)
  const batch: PlainRecord[] = Array.from({ length: recordsOfSend }, (_, i) => ({
    partition: i % work.partitions,
    value: Buffer.alloc(work.sizeBytes, i),
  }))
  // Connections and metadata are there before it begins.
  await client.send(work.topic, batch.slice(0, work.partitions))
  const stop = stopwatch()
  let begun = 0
  const sender = async () => {
    while (begun++ < sends) await client.send(work.topic, batch)
  }
  await Promise.all(Array.from({ length: sendsAtOnce }, sender))
  return stop()
}

/** Time runs from the first record, so that joining a group does not count; CPU from the beginning. */
async function consume(client: MeasuredClient): Promise<Took> {
  const whole = stopwatch()
  let sinceFirst = whole
  let seen = 0
  let bytes = 0
  let seconds = 0
  await client.consume(work.topic, value => {
    if (seen === 0) sinceFirst = stopwatch()
    seen++
    bytes += value.length
    if (seen === work.records) seconds = sinceFirst().seconds
    return seen >= work.records
  })
  if (bytes < work.records * work.sizeBytes) throw new Error(`${bytes} bytes in ${seen} records`)
  return { seconds, cpuSeconds: whole().cpuSeconds }
}

function stopwatch(): () => Took {
  const beganMs = performance.now()
  const cpu = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(cpu)
    return { seconds: (performance.now() - beganMs) / 1000, cpuSeconds: (user + system) / 1e6 }
  }
}
