import { readdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSegmentFileName, segmentFileName } from '../../../src/core/log/file-names.ts'
import { batchSpans } from '../../../src/records/batch-header.ts'

/** More than an index has room for, and two segments fit between. */
const gap = 2 ** 31
const segmentsTogether = 2

/**
 * Moves the offsets of a log, in the directory of a broker that was stopped, apart: after every second segment more of them are
 * left out than any producer would write. No CRC covers them, and indexes count from the base of their segment.
 */
export function moveApart(logDir: string, log: string): void {
  const dir = join(logDir, log)
  const files = readdirSync(dir).flatMap(name => {
    const file = parseSegmentFileName(name)
    return file === undefined ? [] : [{ name, ...file }]
  })
  const bases = files.flatMap(({ kind, offset }) => (kind === 'log' ? [offset] : [])).sort((a, b) => a - b)
  const movedTo = (offset: number): number => {
    const index = bases.findLastIndex(base => base <= offset)
    return offset + gap * Math.floor(index / segmentsTogether)
  }
  // From the last one on, so that no name is taken.
  for (const { name, kind, offset } of files.toSorted((a, b) => b.offset - a.offset)) {
    const [path, moved] = [join(dir, name), join(dir, segmentFileName(movedTo(offset), kind))]
    const { mtime } = statSync(path)
    if (kind === 'log') writeFileSync(path, withOffsets(readFileSync(path), movedTo))
    renameSync(path, moved)
    utimesSync(moved, mtime, mtime)
  }
  for (const checkpoint of ['recovery-point-offset-checkpoint', 'replication-offset-checkpoint']) {
    const path = join(logDir, checkpoint)
    const [topic, partition] = [log.replace(/-\d+$/, ''), log.replace(/^.*-/, '')]
    const line = new RegExp(`^${topic} ${partition} (\\d+)$`, 'm')
    const text = readFileSync(path, 'latin1')
    writeFileSync(
      path,
      text.replace(line, (_, offset) => `${topic} ${partition} ${movedTo(Number(offset))}`),
    )
  }
}

function withOffsets(bytes: Buffer, movedTo: (offset: number) => number): Buffer {
  for (const { at } of batchSpans(bytes)) {
    bytes.writeBigInt64BE(BigInt(movedTo(Number(bytes.readBigInt64BE(at)))), at)
  }
  return bytes
}
