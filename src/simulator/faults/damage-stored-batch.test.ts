import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodePartitionMetadata } from '../../core/log/file-names.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { Ledger } from '../cluster/ledger.ts'
import { History } from '../history/history.ts'
import { World } from '../io/world.ts'
import { Violations } from '../violations.ts'
import { damageStoredBatch } from './damage-stored-batch.ts'

const topicId = 'AAAAAAAAQACAAAAAAAAAZQ'
const directory = '/disk/topic-0'

function batchOf(baseOffset: number, lastOffset: number): Buffer {
  const builder = new BatchBuilder()
  for (let offset = baseOffset; offset <= lastOffset; offset++)
    builder.append(1000, Buffer.from(`key-${offset}`), Buffer.from('value'))
  const batch = Buffer.from(builder.finish({}))
  batch.writeBigInt64BE(BigInt(baseOffset))
  return batch
}

/** Offsets of the batches of a compacted log, by segment. */
const segments = [
  [
    [3, 3],
    [5, 7],
    [12, 13],
    [14, 14],
  ],
  [
    [23, 24],
    [30, 30],
  ],
] as const

test('where offsets are left out, all between the batches beside a damaged one may be unreadable, and no more', () => {
  const found = new Set<string>()
  for (let seed = 1; seed <= 200; seed++) {
    const world = new World({ seed })
    const node = world.addNode('broker')
    const { disk } = node.start()
    disk.makeDirectory(directory)
    disk.writeSmallFile(`${directory}/partition.metadata`, encodePartitionMetadata(topicId))
    for (const [index, batches] of segments.entries()) {
      const bytes = Buffer.concat(batches.map(([from, to]) => batchOf(from, to)))
      disk.writeSmallFile(`${directory}/${String(index * 20).padStart(20, '0')}.log`, bytes)
    }
    const ledger = new Ledger(new History(() => 0), new Violations())
    const place = { node, ledger, broker: undefined }
    const done = damageStoredBatch(place, world.random('nemesis'), { mayLoseRest: false })
    if (done !== undefined) found.add(`${done.from}-${done.to}`)
  }
  // The last batch of a file is left alone.
  assert.deepEqual([...found].sort(), ['0-5', '15-30', '4-12', '8-14'])
})
