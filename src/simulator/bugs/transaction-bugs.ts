import type { PlantedBug } from '../planted-bugs.ts'

/** Mistakes in what a log knows of transactions. */
export const bugs: readonly PlantedBug[] = [
  {
    name: 'aborted-of-later-segments-are-not-told',
    file: 'storage/aborted-transactions.ts',
    find: 'search: for (let at = Math.max(0, segments.indexOf(end.segment)); at < segments.all.length; at++)',
    replace:
      'search: for (let at = Math.max(0, segments.indexOf(end.segment)); at <= segments.indexOf(end.segment); at++)',
    why: 'records are seen whose transaction was aborted in a later segment (I52)',
  },
  {
    name: 'transaction-index-is-not-rebuilt',
    file: 'storage/segment-scan.ts',
    find: 'if (aborted !== undefined) read.addAborted(aborted)',
    replace: 'void aborted',
    why: 'after a crash aborted records are seen (I52)',
  },
  {
    name: 'open-transactions-are-not-in-snapshots',
    file: 'core/log/producer-snapshot.ts',
    find: 'writeInt64(bytes, at + 38, entry.currentTxnFirstOffset)',
    replace: 'writeInt64(bytes, at + 38, -1)',
    why: 'after a restart records of transactions are seen that have not ended (I52)',
  },
]
