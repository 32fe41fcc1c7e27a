import { assert } from '../../../base/assert.ts'
import type { Random } from '../../../base/random.ts'

export interface UsableBroker {
  readonly id: number
  readonly rack: string | null
  /** Out of service: takes replicas only where there are not enough others, and never the first. */
  readonly isFenced: boolean
}

interface Load {
  readonly broker: UsableBroker
  leaders: number
  replicas: number
}

/**
 * Replicas for new partitions, the one that leads first. Over the partitions of one call every broker leads, and holds, as
 * many as every other, to within one; a partition has one replica in a rack before it has two in any. Ties are
 * broken by an order that is drawn anew for each call, so that topics of one partition spread too.
 * There are at least as many brokers as replicas, and one of them is in service.
 */
export function placeReplicas(
  brokers: readonly UsableBroker[],
  { partitions, replicationFactor }: { readonly partitions: number; readonly replicationFactor: number },
  random: Random,
): number[][] {
  assert(replicationFactor <= brokers.length, 'there are brokers for all replicas')
  assert(
    brokers.some(broker => !broker.isFenced),
    'a broker is in service',
  )
  const loads = shuffle(brokers, random).map((broker): Load => ({ broker, leaders: 0, replicas: 0 }))
  return Array.from({ length: partitions }, () => placePartition(loads, replicationFactor))
}

function placePartition(loads: readonly Load[], replicationFactor: number): number[] {
  const leader = lightest(loads, load => [load.broker.isFenced ? 1 : 0, load.leaders, load.replicas])
  leader.leaders += 1
  const chosen = [leader]
  while (chosen.length < replicationFactor) {
    const left = loads.filter(load => !chosen.includes(load))
    const next = lightest(left, load => [
      chosen.filter(other => other.broker.rack === load.broker.rack).length,
      load.broker.isFenced ? 1 : 0,
      load.replicas,
    ])
    chosen.push(next)
  }
  for (const load of chosen) load.replicas += 1
  return chosen.map(load => load.broker.id)
}

/** The first whose numbers are the smallest, the earlier numbers counting before the later. */
function lightest(loads: readonly Load[], weigh: (load: Load) => readonly number[]): Load {
  let best = loads[0]
  let bestWeight = weigh(best)
  for (const load of loads.slice(1)) {
    const weight = weigh(load)
    const at = weight.findIndex((number, index) => number !== bestWeight[index])
    if (at >= 0 && weight[at] < bestWeight[at]) {
      best = load
      bestWeight = weight
    }
  }
  return best
}

function shuffle<T>(items: readonly T[], random: Random): T[] {
  const shuffled = [...items]
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = random.below(last + 1)
    const item = shuffled[last]
    shuffled[last] = shuffled[other]
    shuffled[other] = item
  }
  return shuffled
}
