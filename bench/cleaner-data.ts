import assert from 'node:assert/strict'
import { constants, cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { SeededRandom } from '../src/records/seeded-random.ts'
import { KafkaOracle } from '../test/compatibility/kafka/kafka-oracle.ts'
import { portOf } from '../test/differential/compaction/cleaning.ts'
import { LogWriter } from '../test/differential/compaction/log-writer.ts'
import { createUsableTopic, untilReady } from '../test/differential/side.ts'
import { api } from '../test/end-to-end/api.ts'
import { RawClient } from '../test/end-to-end/raw-client.ts'

/** Compacted first, in the same process, so that what is measured is warm. */
export const warmTopic = 'warm'
export const mainTopic = 'main'
export const offsetsTopic = '__consumer_offsets'

const recordsPerBatch = 1000
const valueBytes = 100
const hourMs = 3_600_000
const partitionsPerGroup = 100
const groups = 100
const millionRecords = 1_000_000

const common = {
  'cleanup.policy': 'compact',
  'segment.bytes': String(100 << 20),
  'segment.ms': String(hourMs),
  'message.timestamp.after.max.ms': String(Number.MAX_SAFE_INTEGER),
  'file.delete.delay.ms': '1000',
}

/** `fill` writes a log directory with Kafka, once for all runs that share `data`. The answer is a fresh copy of it. */
export async function copyOf(
  data: string,
  name: string,
  to: string,
  fill: (dir: string) => Promise<string>,
): Promise<string> {
  const kept = join(data, name)
  if (!existsSync(kept)) {
    const making = join(data, `${name}-in-the-making`)
    rmSync(making, { recursive: true, force: true })
    mkdirSync(making, { recursive: true })
    const logDir = await fill(making)
    renameSync(logDir, kept)
    rmSync(making, { recursive: true, force: true })
  }
  copyDirectory(kept, to)
  return to
}

export function copyDirectory(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true, preserveTimestamps: true, mode: constants.COPYFILE_FICLONE })
}

/** Ten million records of 100 B and a million keys at `scale` 1, and a fifth of that to warm up with. */
export async function fillLogs(dir: string, scale: number): Promise<string> {
  await using kafka = await KafkaOracle.start({ dir, properties: { 'log.cleaner.enable': 'false' } })
  const records = Math.round(10 * millionRecords * scale)
  for (const [topic, share] of [
    [warmTopic, 0.2],
    [mainTopic, 1],
  ] as const) {
    // A log of which all is dirty is no dirtier than 1: it waits until it is told otherwise.
    const configs = { ...common, 'min.cleanable.dirty.ratio': topic === mainTopic ? '1' : '0' }
    using writer = await LogWriter.create({ port: portOf(kafka), topic, configs })
    await writeRecords(writer, { records: records * share, keys: (records * share) / 10 })
  }
  await kafka.stop()
  return kafka.logDirs[0]!
}

async function writeRecords(writer: LogWriter, { records, keys }: { records: number; keys: number }): Promise<void> {
  const random = new SeededRandom(records)
  const value = random.bytes(valueBytes)
  const started = Date.now()
  for (let written = 0; written < records; written += recordsPerBatch) {
    const batch = Array.from({ length: recordsPerBatch }, (_, index) => ({
      timestamp: started + Math.floor((written + index) / 100),
      key: Buffer.from(`key-${random.below(keys)}`),
      value,
    }))
    await writer.append(batch)
  }
  await writer.append([{ timestamp: started + 3 * hourMs, key: Buffer.from('the next segment'), value: null }])
}

/** A million commits of a hundred groups for a hundred partitions each, at `scale` 1. */
export async function fillOffsets(dir: string, scale: number): Promise<string> {
  const properties = { 'log.cleaner.enable': 'false', 'offsets.topic.num.partitions': '1' }
  await using kafka = await KafkaOracle.start({ dir, properties })
  using client = await RawClient.connect({ port: portOf(kafka) })
  await untilReady(client)
  await createUsableTopic(client, 'committed', { partitions: partitionsPerGroup })
  const rounds = Math.round((millionRecords * scale) / partitionsPerGroup / groups)
  for (let round = 0; round < rounds; round++) {
    for (let group = 0; group < groups; group++) await commit(client, `group-${group}`, round)
  }
  await setConfigs(client, offsetsTopic, { 'segment.ms': '500', 'min.cleanable.dirty.ratio': '0' })
  await pause(1500)
  await commit(client, 'group-0', rounds)
  await setConfigs(client, offsetsTopic, { 'segment.ms': String(hourMs * 24 * 7) })
  await kafka.stop()
  return kafka.logDirs[0]!
}

async function commit(client: RawClient, groupId: string, committedOffset: number): Promise<void> {
  const partitions = Array.from({ length: partitionsPerGroup }, (_, partitionIndex) => {
    return { partitionIndex, committedOffset, committedMetadata: '' }
  })
  const answer = await client.call(api.offsetCommit, 9, {
    ...{ groupId, memberId: '' },
    topics: [{ name: 'committed', partitions }],
  })
  assert.equal(answer.topics[0]!.partitions[0]!.errorCode, 0)
}

/** Sets and leaves the others as they are. */
export async function setConfigs(
  client: RawClient,
  topic: string,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const configs = Object.entries(values).map(([name, value]) => ({ name, configOperation: 0, value }))
  const resources = [{ resourceType: 2, resourceName: topic, configs }]
  const { responses } = await client.call(api.incrementalAlterConfigs, 1, { resources, validateOnly: false })
  assert.equal(responses[0]!.errorCode, 0, String(responses[0]!.errorMessage))
}
