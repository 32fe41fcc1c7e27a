import { parseSegmentFileName, segmentFileName } from './file-names.ts'

/** What the names of the files in a partition's directory say must be done before it can be read. */
export interface SegmentPlan {
  /** Left over by an operation that did not end, or without a segment: to be removed. */
  readonly remove: readonly string[]
  /** A cleaned segment that was to replace others: to get its name, after those it replaces are removed. */
  readonly rename: readonly { readonly from: string; readonly to: string }[]
  /** Base offsets of the segments, growing. */
  readonly segments: readonly number[]
  /** Offsets of the producer snapshots, growing. */
  readonly snapshots: readonly number[]
  /** Base offsets of segments that have the file. */
  readonly withIndex: ReadonlySet<number>
  readonly withTimeIndex: ReadonlySet<number>
  readonly withTransactionIndex: ReadonlySet<number>
  /**
   * Base offsets of index files between segments, whose own segment is not there, growing: nothing that may have ended halfway
   * leaves them. They stay, to tell of it at the next start too.
   */
  readonly missing: readonly number[]
  /**
   * Such segments that had been put anew, as files of theirs say that are there twice, with `.deleted` and without: a removal
   * that did not end leaves each once. They are in `remove`.
   */
  readonly lost: readonly number[]
}

/**
 * `.deleted` and `.cleaned` files are dropped. A `.swap` segment is complete: it takes the place of the segments that it was
 * made from. It was, unless a `.cleaned` file says that others of its group were not: then the whole group is dropped, as the
 * originals are still there. Of a segment whose log file has its name already, the other files get theirs too.
 */
export function planSegments(
  names: readonly string[],
  endOfSwap: (baseOffset: number) => number | undefined,
): SegmentPlan {
  const remove = new Set(names.filter(name => name.endsWith('.tmp')))
  const parsed = names.flatMap(name => {
    const file = parseSegmentFileName(name)
    return file === undefined ? [] : [{ name, ...file }]
  })
  const firstCleaned = Math.min(...parsed.filter(file => file.suffix === 'cleaned').map(file => file.offset))
  const rename: { from: string; to: string }[] = []
  const swaps: { baseOffset: number; endOffset: number }[] = []
  const isNamed = (offset: number) =>
    parsed.some(file => file.kind === 'log' && file.suffix === undefined && file.offset === offset)
  for (const { name, offset, kind, suffix } of parsed) {
    if (suffix === undefined) continue
    const endOffset = suffix === 'swap' && offset < firstCleaned ? endOfSwap(offset) : undefined
    const isLate = suffix === 'swap' && offset < firstCleaned && endOffset === undefined && isNamed(offset)
    if (endOffset === undefined && !isLate) {
      remove.add(name)
      continue
    }
    rename.push({ from: name, to: segmentFileName(offset, kind) })
    // A segment of which nothing was left takes the place of the one whose name it has.
    if (kind === 'log' && endOffset !== undefined)
      swaps.push({ baseOffset: offset, endOffset: Math.max(endOffset, offset + 1) })
  }
  const isReplaced = (offset: number) => swaps.some(swap => offset >= swap.baseOffset && offset < swap.endOffset)
  const renamed = new Set(rename.map(({ to }) => to))
  const current = parsed.filter(file => file.suffix === undefined)
  const logs = new Set(current.filter(file => file.kind === 'log' && !isReplaced(file.offset)).map(file => file.offset))
  for (const { baseOffset } of swaps) logs.add(baseOffset)
  const missing = new Set<number>()
  const lost = new Set<number>()
  const [first, last] = [Math.min(...logs), Math.max(...logs)]
  const isDeleted = (offset: number) => parsed.some(file => file.suffix !== undefined && file.offset === offset)
  for (const { name, offset, kind } of current) {
    const isGone = kind !== 'snapshot' && (isReplaced(offset) || !logs.has(offset))
    if (!isGone || renamed.has(name)) continue
    const isMissed = offset > first && offset < last && !isReplaced(offset)
    if (isMissed && !isDeleted(offset)) missing.add(offset)
    else remove.add(name)
    if (isMissed && parsed.some(file => file.name === `${name}.deleted`)) lost.add(offset)
  }
  const left = [
    ...current.filter(({ name }) => !remove.has(name)),
    ...rename.flatMap(({ to }) => parseSegmentFileName(to) ?? []),
  ]
  const offsetsOf = (wanted: string) => left.filter(file => file.kind === wanted).map(file => file.offset)
  return {
    // What is `.deleted` goes last: it says of the others why their segment is not there.
    remove: [...remove].reverse(),
    rename,
    segments: [...logs].sort((a, b) => a - b),
    snapshots: offsetsOf('snapshot').sort((a, b) => a - b),
    withIndex: new Set(offsetsOf('index')),
    withTimeIndex: new Set(offsetsOf('timeindex')),
    withTransactionIndex: new Set(offsetsOf('txnindex')),
    missing: [...missing].sort((a, b) => a - b),
    lost: [...lost].sort((a, b) => a - b),
  }
}
