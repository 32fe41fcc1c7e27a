/**
 * Kafka's text checkpoints: a line with the version 0, a line with the number of entries, then one entry a line. The
 * number protects against a file that was cut at the end of a line.
 */
export function encodeCheckpoint(entries: readonly string[]): Buffer {
  return Buffer.from(`0\n${entries.length}\n${entries.map(entry => `${entry}\n`).join('')}`)
}

/** The entries, or undefined when the content is not that of a whole checkpoint. Kafka makes empty files first: no entries. */
export function decodeCheckpoint(bytes: Buffer): string[] | undefined {
  if (bytes.length === 0) return []
  const lines = bytes.toString('utf8').split('\n')
  // A number that was cut reads as a smaller one: the last line ends as all do.
  if (lines.pop() !== '') return undefined
  const [version, count, ...entries] = lines
  return version === '0' && count === String(entries.length) ? entries : undefined
}

export interface OffsetCheckpointEntry {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

export function encodeOffsetCheckpoint(entries: readonly OffsetCheckpointEntry[]): Buffer {
  return encodeCheckpoint(entries.map(({ topic, partition, offset }) => `${topic} ${partition} ${offset}`))
}

/** Undefined when the content is damaged. A partition that is named twice has the last offset named, as in Kafka. */
export function decodeOffsetCheckpoint(bytes: Buffer): OffsetCheckpointEntry[] | undefined {
  const lines = decodeCheckpoint(bytes)
  if (lines === undefined) return undefined
  const entries: OffsetCheckpointEntry[] = []
  for (const line of lines) {
    const match = /^(\S+) (\d+) (-?\d+)$/.exec(line)
    if (match === null) return undefined
    const entry = { topic: match[1], partition: Number(match[2]), offset: Number(match[3]) }
    if (!Number.isSafeInteger(entry.offset)) return undefined
    entries.push(entry)
  }
  return entries
}
