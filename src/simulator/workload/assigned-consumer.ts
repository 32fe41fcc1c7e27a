import { ErrorCode } from '../../base/error-code.ts'
import { listOffset, poll } from './read-partition.ts'
import { type PartitionTarget, pickPartition, think, type Workplace } from './workplace.ts'

/** Readers that keep their position themselves, one partition at a time. */
export async function runAssignedConsumer(at: Workplace): Promise<void> {
  while (!at.isStopping()) {
    await think(at, 50)
    const target = await pickPartition(at)
    if (target === undefined) continue
    const start = await listOffset(at, target, at.random.pick([-2, -2, -1]))
    if (start !== undefined) await follow(at, target, start)
  }
}

async function follow(at: Workplace, target: PartitionTarget, start: number): Promise<void> {
  const { random } = at
  let offset = start
  for (let left = random.between(5, 40); left > 0 && !at.isStopping(); left--) {
    const maxBytes = random.pick([1, 100, 1000, 1_000_000])
    const result = await poll(at, target, { offset, maxWaitMs: random.pick([0, 10, 300]), maxBytes })
    if (result.type === 'read') offset = result.nextOffset
    else if (result.type === 'refused' && result.errorCode === ErrorCode.offsetOutOfRange) {
      const reset = await listOffset(at, target, random.pick([-2, -1]))
      if (reset === undefined) return
      offset = reset
    } else if (result.type === 'refused') return
    else await think(at, 100)
    if (random.chance(0.3)) await think(at, 20)
  }
}
