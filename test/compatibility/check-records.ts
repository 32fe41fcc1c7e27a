import type { Acked, SeenRecord } from './driver-process.ts'
import { type ExpectedRecord, expectedRecords, type Job } from './job.ts'

export interface Window {
  /** Unix milliseconds between which every timestamp must lie. */
  readonly from: number
  readonly to: number
}

/**
 * Holds what a client saw against what was sent: each record once, nothing else, with its key, header and a timestamp in
 * `window`, in order within its partition. Gives a line for each thing that is wrong.
 */
export function checkRecords(seen: readonly SeenRecord[], jobs: readonly Job[], window: Window): string[] {
  const wrong = [...checkOnce(seen, jobs), ...checkOrder(seen)]
  for (const { topic, partition, offset, timestamp } of seen) {
    if (timestamp < window.from || timestamp > window.to) {
      wrong.push(
        `${topic}-${partition}@${offset} has timestamp ${timestamp}, outside of ${window.from} to ${window.to}`,
      )
    }
  }
  return wrong
}

/** Each expected record is there once, as it was sent, and nothing else is there. */
export function checkOnce(seen: readonly SeenRecord[], jobs: readonly Job[]): string[] {
  const wrong: string[] = []
  const id = ({ topic, value }: { topic: string; value: string }): string => `${topic} ${value}`
  const expected = new Map<string, ExpectedRecord>(expectedRecords(jobs).map(record => [id(record), record]))
  const times = new Map<string, number>()
  for (const record of seen) {
    const wanted = expected.get(id(record))
    const at = `${record.topic}-${record.partition}@${record.offset}`
    if (wanted === undefined) {
      wrong.push(`${at} is not a record that was sent: ${String(record.value).slice(0, 60)}`)
      continue
    }
    times.set(id(record), (times.get(id(record)) ?? 0) + 1)
    if (record.key !== wanted.key) wrong.push(`${at} has key ${record.key} for ${wanted.key}`)
    if (record.headers.job !== wanted.prefix) wrong.push(`${at} has headers ${JSON.stringify(record.headers)}`)
  }
  for (const [key, { topic, n, prefix }] of expected) {
    const count = times.get(key) ?? 0
    if (count !== 1) wrong.push(`record ${n} of ${prefix} in ${topic} was seen ${count} times`)
  }
  return wrong
}

/** Offsets have no gaps within what was seen of a partition; a producer's records are in the order in which it sent them; a key stays in its partition. */
export function checkOrder(seen: readonly SeenRecord[]): string[] {
  const wrong: string[] = []
  const last = new Map<string, { offset: number; numbers: Map<string, number> }>()
  const partitionOfKey = new Map<string, number>()
  for (const { topic, partition, offset, key, value, headers } of seen) {
    const at = `${topic}-${partition}@${offset}`
    const before = last.get(`${topic}-${partition}`)
    if (before !== undefined && offset !== before.offset + 1) wrong.push(`${at} came after offset ${before.offset}`)
    const prefix = headers.job ?? ''
    const n = Number.parseInt(value.slice(prefix.length + 1), 10)
    const numbers = before?.numbers ?? new Map<string, number>()
    if (n <= (numbers.get(prefix) ?? -1)) wrong.push(`${at} is record ${n}, after record ${numbers.get(prefix)}`)
    numbers.set(prefix, n)
    last.set(`${topic}-${partition}`, { offset, numbers })
    const home = partitionOfKey.get(`${topic} ${key}`) ?? partition
    partitionOfKey.set(`${topic} ${key}`, home)
    if (home !== partition) wrong.push(`${at} has key ${key}, which was in partition ${home} before`)
  }
  return wrong
}

/** What the producer was told of a record's place is where a consumer finds it. */
export function checkAcked(acked: readonly Acked[], seen: readonly SeenRecord[], jobs: readonly Job[]): string[] {
  const places = new Map(seen.map(record => [`${record.topic}-${record.partition}@${record.offset}`, record.value]))
  const values = new Map(expectedRecords(jobs).map(({ topic, n, value }) => [`${topic} ${n}`, value]))
  return acked.flatMap(({ topic, partition, offset, n }) => {
    const place = `${topic}-${partition}@${offset}`
    return places.get(place) === values.get(`${topic} ${n}`)
      ? []
      : [`record ${n} was acknowledged at ${place} but is not there`]
  })
}
