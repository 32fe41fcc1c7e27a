import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
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

function output(result: ComputeResult): Buffer {
  assert.equal(result.type, 'done')
  return result.output
}
