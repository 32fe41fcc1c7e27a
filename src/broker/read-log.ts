import type { ErrorCode } from '../base/error-code.ts'
import type { PartitionLog, ReadIsolation } from '../core/log/partition-log.ts'
import type { FileRange } from '../io/disk.ts'
import { batchSizeAt } from '../records/batch.ts'

export type LogBytes =
  /** `isGapToEnd`: see `LogRead`. */
  | { readonly type: 'bytes'; readonly bytes: Buffer; readonly isGapToEnd: boolean }
  | { readonly type: 'refused'; readonly errorCode: ErrorCode }

/**
 * Reads whole batches into memory: for replay, never for clients. At least one batch if there is any below the limit that
 * `isolation` names; the first may begin below `offset`.
 */
export async function readBatches(
  log: PartitionLog<FileRange>,
  request: { readonly offset: number; readonly maxBytes: number; readonly isolation: ReadIsolation },
): Promise<LogBytes> {
  const answer = await log.read({ ...request, minOneBatch: true })
  if (answer.type === 'refused') return answer
  const pieces: Buffer[] = []
  for (const part of answer.parts) {
    if (Buffer.isBuffer(part)) pieces.push(part)
    else pieces.push(await readRange(part))
  }
  const bytes = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)
  return { type: 'bytes', bytes: wholeBatches(bytes), isGapToEnd: answer.isGapToEnd === true }
}

async function readRange({ file, position, length }: FileRange): Promise<Buffer> {
  try {
    return await file.read(position, length)
  } finally {
    file.release()
  }
}

function wholeBatches(bytes: Buffer): Buffer {
  let end = 0
  for (let size = batchSizeAt(bytes, end); size > 0; size = batchSizeAt(bytes, end)) end += size
  return bytes.subarray(0, end)
}
