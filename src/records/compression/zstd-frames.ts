/**
 * Finds the frames of zstd data by their headers and blocks, without unpacking. Node 22 unpacks only the first frame and
 * takes cut-off data for whole; with this both are known before. It also tells how long the output will be, where the
 * frame says so.
 */
const magic = 0xfd2fb528
const skippableMagic = 0x184d2a50
const contentSizeBytes = [0, 2, 4, 8]
const dictionaryIdBytes = [0, 1, 2, 4]

export interface ZstdFrame {
  readonly start: number
  readonly end: number
  /** Undefined when the frame does not say. */
  readonly contentBytes: number | undefined
}

/** The frames in order, without skippable ones; undefined when the data is cut off or is something else. */
export function findZstdFrames(bytes: Buffer): ZstdFrame[] | undefined {
  const frames: ZstdFrame[] = []
  let start = 0
  while (start < bytes.length) {
    if (bytes.length - start < 8) return undefined
    const word = bytes.readUInt32LE(start)
    if ((word & 0xffff_fff0) >>> 0 === skippableMagic) {
      start += 8 + bytes.readUInt32LE(start + 4)
      if (start > bytes.length) return undefined
    } else {
      const frame = word === magic ? findFrame(bytes, start) : undefined
      if (frame === undefined) return undefined
      frames.push(frame)
      start = frame.end
    }
  }
  return frames.length === 0 ? undefined : frames
}

function findFrame(bytes: Buffer, start: number): ZstdFrame | undefined {
  const descriptor = bytes[start + 4]
  const isSingleSegment = (descriptor & 0x20) !== 0
  const sizeCode = descriptor >>> 6
  const sizeBytes = sizeCode === 0 && isSingleSegment ? 1 : contentSizeBytes[sizeCode]
  const sizeAt = start + 5 + (isSingleSegment ? 0 : 1) + dictionaryIdBytes[descriptor & 3]
  let at = sizeAt + sizeBytes
  if (at > bytes.length) return undefined
  for (let isLast = false; !isLast; ) {
    if (bytes.length - at < 3) return undefined
    const header = bytes.readUIntLE(at, 3)
    isLast = (header & 1) !== 0
    const type = (header >>> 1) & 3
    if (type === 3) return undefined
    at += 3 + (type === 1 ? 1 : header >>> 3)
    if (at > bytes.length) return undefined
  }
  if (descriptor & 4) at += 4
  if (at > bytes.length) return undefined
  return { start, end: at, contentBytes: readContentSize(bytes, sizeAt, sizeBytes) }
}

function readContentSize(bytes: Buffer, at: number, sizeBytes: number): number | undefined {
  switch (sizeBytes) {
    case 0:
      return undefined
    case 1:
      return bytes[at]
    case 2:
      return bytes.readUInt16LE(at) + 256
    case 4:
      return bytes.readUInt32LE(at)
    default:
      return Number(bytes.readBigUInt64LE(at))
  }
}
