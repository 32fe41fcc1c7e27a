import { decodeCheckpoint, encodeCheckpoint } from '../core/log/checkpoint-text.ts'
import { type Disk, replaceFile } from '../io/disk.ts'

/** How a log was left by a clean shutdown: its active segment's name and size, and the log end offset. */
export interface CleanEnd {
  readonly baseOffset: number
  readonly sizeBytes: number
  readonly endOffset: number
}

const fileName = 'millrace-log-ends'
const maxFileBytes = 64 * 1024 * 1024

/**
 * By the names of the partitions' directories; undefined where there is no such file, as in a directory of Kafka's: then the
 * end of each log is looked at.
 */
export function readCleanEnds(disk: Disk, directory: string): Map<string, CleanEnd> | undefined {
  const bytes = disk.readSmallFile(`${directory}/${fileName}`, maxFileBytes)
  const lines = bytes && decodeCheckpoint(bytes)
  if (lines === undefined) return undefined
  const ends = new Map<string, CleanEnd>()
  for (const line of lines) {
    const match = /^(\S+) (\d+) (\d+) (\d+)$/.exec(line)
    if (match === null) return undefined
    ends.set(match[1], { baseOffset: Number(match[2]), sizeBytes: Number(match[3]), endOffset: Number(match[4]) })
  }
  return ends
}

export function writeCleanEnds(disk: Disk, directory: string, ends: ReadonlyMap<string, CleanEnd>): Promise<void> {
  const lines = [...ends].map(
    ([name, { baseOffset, sizeBytes, endOffset }]) => `${name} ${baseOffset} ${sizeBytes} ${endOffset}`,
  )
  return replaceFile(disk, `${directory}/${fileName}`, encodeCheckpoint(lines))
}

/** It holds for the start that reads it only. */
export function removeCleanEnds(disk: Disk, directory: string): Promise<void> {
  return disk.remove(`${directory}/${fileName}`)
}
