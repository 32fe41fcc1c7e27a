import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BatchBuilder } from '../../records/builder.ts'
import { encodeActiveProducers } from '../../records/compaction/contract.ts'
import { createOffsetMap } from '../../records/compaction/offset-map.ts'
import { noTransactions } from '../../records/compaction/transaction-state.ts'
import type { Compute, ComputeResult } from '../compute.ts'
import { inHarness, type MakeHarness, watchTurn } from './harness.ts'

const text = Buffer.from('a line that repeats itself, as lines in logs do\n'.repeat(30_000))
const codecs = [1, 2, 3, 4]

/** What every `Compute` must do. */
export function computeConformance(name: string, make: MakeHarness<Compute>): void {
  const computeTest = (title: string, body: (compute: Compute) => Promise<void>) => test(title, inHarness(make, body))

  describe(`${name} as compute`, () => {
    computeTest('what was compressed is decompressed to the same bytes, with each codec', async compute => {
      for (const codec of codecs) {
        const packed = output(await compute.run({ type: 'compress', codec, level: undefined, input: text }))
        assert.ok(packed.length < text.length / 2)
        const job = { type: 'decompress', codec, input: packed } as const
        assert.ok(output(await compute.run({ ...job, maxBytes: text.length })).equals(text))
        assert.deepEqual(await compute.run({ ...job, maxBytes: text.length - 1 }), { type: 'tooLarge' })
        assert.equal((await compute.run({ ...job, input: packed.subarray(0, 30), maxBytes: 1000 })).type, 'corrupt')
      }
    })

    computeTest('levels are heeded, and refused when there is no such level', async compute => {
      const fast = output(await compute.run({ type: 'compress', codec: 4, level: 1, input: text }))
      const small = output(await compute.run({ type: 'compress', codec: 4, level: 19, input: text }))
      assert.ok(small.length < fast.length)
      assert.equal((await compute.run({ type: 'compress', codec: 1, level: 77, input: text })).type, 'corrupt')
    })

    computeTest('keys are derived as RFC 7677 has them', async compute => {
      const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64')
      const job = { type: 'deriveKey', password: Buffer.from('pencil'), salt, iterations: 4096 } as const
      const key = output(await compute.run({ ...job, hash: 'sha256', keyBytes: 32 }))
      assert.equal(key.toString('base64'), 'xKSVEDI6tPlSysH6mUQZOeeOp01r6B3fcJbodRPcYV0=')
      assert.equal(output(await compute.run({ ...job, hash: 'sha512', keyBytes: 64 })).length, 64)
    })

    computeTest('keys are indexed and batches filtered, and memory goes round', async compute => {
      const map = createOffsetMap({ bytes: 10_000, loadFactor: 0.9, seed: [1, 2, 3, 4] })
      const common = { map, followingBytes: 0, transactions: noTransactions(), maxUncompressedBytes: 1000 }
      const given = twoOfOneKey()
      const { length } = given
      const indexing = compute.indexKeys({
        ...{ type: 'indexKeys', ...common, batches: given, fromOffset: 0, mapEndOffset: 0 },
      })
      assert.equal(given.length, 0)
      const indexed = await indexing
      assert.ok(indexed.type === 'done' && indexed.mapEndOffset === 9 && indexed.consumedBytes === length)
      const output = Buffer.allocUnsafeSlow(1000)
      const filtering = compute.filterBatches({
        ...{ type: 'filterBatches', ...common, batches: indexed.batches, output, mapEndOffset: 9, keptEndOffset: 9 },
        ...{
          activeProducers: encodeActiveProducers([]),
          wallMs: 0,
          deleteRetentionMs: 0,
          dropsLegacyTombstones: false,
        },
      })
      assert.deepEqual([indexed.batches.length, output.length], [0, 0])
      const filtered = await filtering
      assert.equal(filtered.type, 'done')
      assert.deepEqual([filtered.readRecords, filtered.keptRecords, filtered.batches.length], [2, 1, length])
      assert.ok(Buffer.isBuffer(filtered.output) && filtered.output.equals(filtered.batches.subarray(length / 2)))
      assert.equal(filtered.output.buffer.byteLength, 1000)
    })

    computeTest('jobs of compaction are done in their order, and what is damaged is said', async compute => {
      const map = createOffsetMap({ bytes: 10_000, loadFactor: 0.9, seed: [1, 2, 3, 4] })
      const common = { map, followingBytes: 0, transactions: noTransactions(), maxUncompressedBytes: 1000 }
      const done: number[] = []
      const jobs = Array.from({ length: 20 }, async (_, number) => {
        const batches = twoOfOneKey()
        if (number % 2 === 1) batches[batches.length - 1] ^= 1
        const at = batches.length / 2
        const result = await compute.indexKeys({
          ...{ type: 'indexKeys', ...common, batches, fromOffset: 0, mapEndOffset: 0 },
        })
        done.push(number)
        if (number % 2 === 0) assert.equal(result.type, 'done')
        else assert.ok(result.type === 'damaged' && result.at === at && result.reason === 'its CRC is wrong')
      })
      await Promise.all(jobs)
      assert.deepEqual(done, [...done.keys()])
    })

    computeTest('many jobs at once are all answered, in later turns', async compute => {
      const packed = output(await compute.run({ type: 'compress', codec: 1, level: undefined, input: text }))
      const turn = watchTurn()
      const jobs = Array.from({ length: 50 }, async (_, number) => {
        const maxBytes = number % 2 === 0 ? text.length : 10
        const result = await compute.run({ type: 'decompress', codec: 1, input: packed, maxBytes })
        assert.ok(turn.isOver())
        return result.type
      })
      const types = await Promise.all(jobs)
      assert.deepEqual(
        types,
        types.map((_, number) => (number % 2 === 0 ? 'done' : 'tooLarge')),
      )
    })
  })
}

/** Two batches of the same length, at offsets 3 and 8. */
function twoOfOneKey(): Buffer {
  const batches = [3, 8].map(baseOffset => {
    const builder = new BatchBuilder()
    builder.append(1000, Buffer.from('key'), Buffer.from(`value ${baseOffset}`))
    return builder.finish({ baseOffset })
  })
  const bytes = Buffer.allocUnsafeSlow(2 * batches[0].length)
  for (const [index, batch] of batches.entries()) batch.copy(bytes, index * batch.length)
  return bytes
}

function output(result: ComputeResult): Buffer {
  assert.equal(result.type, 'done')
  return result.output
}
