import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NeedsUnpacking } from '../../core/log/partition-log.ts'
import type { Compute, ComputeJob, ComputeResult } from '../../io/compute.ts'
import { Unpacker } from './unpacker.ts'

/** Ends its jobs when it is told to. */
class HandCompute implements Compute {
  readonly running: { readonly job: ComputeJob; end(result: ComputeResult): void }[] = []

  run(job: ComputeJob): Promise<ComputeResult> {
    return new Promise(end => this.running.push({ job, end }))
  }
}

function batch(maxBytes: number): NeedsUnpacking {
  return { type: 'needsUnpacking', codec: 1, maxBytes, input: Buffer.from('packed') }
}

/** Lets everything happen that follows from what has happened. */
async function turn(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

test('as many batches are unpacked at a time as have room, and one whatever it needs', async () => {
  const compute = new HandCompute()
  const unpacker = new Unpacker(compute, 100)
  const used: string[] = []
  for (const [name, bytes] of [
    ['a', 60],
    ['b', 40],
    ['c', 500],
    ['d', 10],
  ] as const) {
    unpacker.unpack(batch(bytes), result => used.push(`${name} ${result.type}`))
  }
  assert.equal(compute.running.length, 2)
  compute.running[1].end({ type: 'tooLarge' })
  await turn()
  assert.equal(compute.running.length, 2, 'the next in the queue has no room beside the first')
  compute.running[0].end({ type: 'corrupt', reason: 'x' })
  await turn()
  assert.equal(compute.running.length, 3, 'and then nobody has room beside it')
  compute.running[2].end({ type: 'tooLarge' })
  await turn()
  compute.running[3].end({ type: 'tooLarge' })
  await turn()
  assert.deepEqual(used, ['b tooLarge', 'a corrupt', 'c tooLarge', 'd tooLarge'])
})

test('what was unpacked is there while it is used, and its memory is given back after', async () => {
  const compute = new HandCompute()
  const output = Buffer.from(new ArrayBuffer(1_000_000))
  let seenBytes = 0
  new Unpacker(compute, 100).unpack(batch(10), result => {
    seenBytes = result.type === 'done' ? result.output.length : 0
  })
  compute.running[0].end({ type: 'done', output })
  await turn()
  assert.deepEqual([seenBytes, output.length], [1_000_000, 0])
})
