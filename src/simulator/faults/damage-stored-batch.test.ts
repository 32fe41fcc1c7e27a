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

function batchOf(baseOffset: number, lastOffset: number, value = 'value'): Buffer {
  const builder = new BatchBuilder()
  for (let offset = baseOffset; offset <= lastOffset; offset++)
    builder.append(1000, Buffer.from(`key-${offset}`), Buffer.from(value))
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

interface Outcome {
  readonly from: number
  readonly to: number
  readonly what: string
}

/** What is damaged, in each of many worlds, of logs that lie on a disk so: the first is of a topic, the others only lie there. */
function outcomes(logs: readonly (readonly (readonly Buffer[])[])[]): Outcome[] {
  const found: Outcome[] = []
  for (let seed = 1; seed <= 200; seed++) {
    const world = new World({ seed })
    const node = world.addNode('broker')
    const { disk } = node.start()
    for (const [number, batches] of logs.entries()) {
      const path = number === 0 ? directory : `/disk/other-${number}`
      disk.makeDirectory(path)
      if (number === 0) disk.writeSmallFile(`${path}/partition.metadata`, encodePartitionMetadata(topicId))
      for (const [index, segment] of batches.entries())
        disk.writeSmallFile(`${path}/${String(index * 20).padStart(20, '0')}.log`, Buffer.concat(segment))
    }
    const ledger = new Ledger(new History(() => 0), new Violations())
    const place = { node, ledger, broker: undefined }
    const done = damageStoredBatch(place, world.random('nemesis'), { mayLoseRest: false })
    if (done !== undefined) found.push(done)
  }
  return found
}

test('where offsets are left out, all between the batches beside a damaged one may be unreadable, and no more', () => {
  const log = segments.map(batches => batches.map(([from, to]) => batchOf(from, to)))
  const found = new Set(outcomes([log]).map(({ from, to }) => `${from}-${to}`))
  // The last batch of a file is left alone.
  assert.deepEqual([...found].sort(), ['0-5', '15-30', '4-12', '8-14'])
})

test('a misdirected write lands where one of its size lies, however few such places there are', () => {
  const sizes = Array.from({ length: 30 }, (_, index) => batchOf(2 * index, 2 * index, 'x'.repeat(index)))
  const log = [...sizes, batchOf(60, 60, 'x'), batchOf(62, 62)]
  const misdirected = outcomes([[log]]).filter(({ what }) => what.startsWith('a batch of offset'))
  assert.ok(misdirected.length > 50, `${misdirected.length}`)
  // The last one has a twin, too, and is left alone.
  const places = new Set(misdirected.map(({ from, what }) => `${from}: ${what.split(' ')[4]}`))
  assert.deepEqual([...places].sort(), ['3: 60', '59: 4', '9: 62'])
})

test('no batch of another log comes to lie where its offset fits, since nobody could tell', () => {
  const log = [batchOf(0, 0), batchOf(5, 5), batchOf(9, 9)]
  const others = [3, 4, 6, 8, 9].map(offset => batchOf(offset, offset))
  const found = outcomes([[log], [others]]).filter(({ from, what }) => from === 1 && what.startsWith('a batch of'))
  assert.deepEqual([...new Set(found.map(({ what }) => what.split(' ')[4]))].sort(), ['0', '9'])
})
