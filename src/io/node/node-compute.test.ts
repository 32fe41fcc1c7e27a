import { computeConformance } from '../conformance/compute-conformance.ts'
import { NodeCompute } from './node-compute.ts'
import { Slots } from './slots.ts'
import { TurnQueue } from './turn-queue.ts'

computeConformance('the real one', () => {
  const compute = new NodeCompute(new Slots(2), new TurnQueue())
  return { subject: compute, run: body => body(), dispose: () => compute.close() }
})
