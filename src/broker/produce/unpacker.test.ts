import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NeedsUnpacking } from '../../core/log/partition-log.ts'
import type { Clock } from '../../io/clock.ts'
import type { Compute, ComputeJob, ComputeResult } from '../../io/compute.ts'
import { LargeBatchCheck } from '../../records/large-batch-check.ts'
import { Unpacker } from './unpacker.ts'

/** Ends its jobs when it is told to. */
class HandCompute implements Pick<Compute, 'run'> {
  readonly running: { readonly job: ComputeJob; end(result: ComputeResult): void }[] = []

  run(job: ComputeJob): Promise<ComputeResult> {
    return new Promise(end => this.running.push({ job, end }))
  }
}

function unpackerOf(compute: Pick<Compute, 'run'>, failed: (error: Error) => void = assert.ifError) {
  const clock = { yieldTurn: () => Promise.resolve() } as Clock
  return new Unpacker({ compute, clock, roomBytes: 100, failed })
}

function batch(maxBytes: number): NeedsUnpacking {
  const check = new LargeBatchCheck({
    ...{ recordCount: 1, baseTimestamp: 0n, appendTime: undefined, requiresKey: false, timestampBounds: undefined },
    maxRecordBytes: Number.POSITIVE_INFINITY,
  })
  return { type: 'needsUnpacking', codec: 1, maxBytes, input: Buffer.from('packed'), check }
}

/** Lets everything happen that follows from what has happened. */
async function turn(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

test('as many batches are unpacked at a time as have room, and one whatever it needs', async () => {
  const compute = new HandCompute()
  const unpacker = unpackerOf(compute)
  const used: string[] = []
  for (const [name, bytes] of [
    ['a', 60],
    ['b', 40],
    ['c', 500],
    ['d', 10],
  ] as const) {
    unpacker.unpack(
      batch(bytes),
      unpacked => void used.push(`${name} ${unpacked.type === 'failed' && unpacked.errorCode}`),
    )
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
  assert.deepEqual(used, ['b 10', 'a 87', 'c 10', 'd 10'])
})

test('what was unpacked is there while it is used, also while it is packed anew, and its memory is given back after', async () => {
  const compute = new HandCompute()
  const output = Buffer.from(new ArrayBuffer(1_000_000))
  const seen: (string | number)[] = []
  unpackerOf(compute).unpack(batch(10), unpacked => {
    assert.ok(unpacked.type === 'prepared')
    const { records, packed } = unpacked.batch
    seen.push(records.length, packed?.bytes.toString() ?? 'not packed')
    return packed === undefined ? { type: 'needsPacking', codec: 4, level: 3, records } : undefined
  })
  compute.running[0].end({ type: 'done', output })
  await turn()
  const { job, end } = compute.running[1]
  assert.deepEqual(job, { type: 'compress', codec: 4, level: 3, input: output })
  assert.equal(output.length, 1_000_000)
  end({ type: 'done', output: Buffer.from('anew') })
  await turn()
  assert.deepEqual([...seen, output.length], [1_000_000, 'not packed', 1_000_000, 'anew', 0])
})

test('a fault in what is done with a batch is not lost, and the next batch has its turn', async () => {
  const compute = new HandCompute()
  const faults: string[] = []
  const unpacker = unpackerOf(compute, error => faults.push(error.message))
  unpacker.unpack(batch(500), () => {
    throw new Error('a bug')
  })
  let isUsed = false
  unpacker.unpack(batch(500), () => {
    isUsed = true
    return undefined
  })
  compute.running[0].end({ type: 'tooLarge' })
  await turn()
  compute.running[1].end({ type: 'tooLarge' })
  await turn()
  assert.deepEqual([faults, isUsed], [['a bug'], true])
})
