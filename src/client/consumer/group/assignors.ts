import { invalidArgument } from '../../millrace-error.ts'
import type { Assignor } from './assignor.ts'
import { cooperativeStickyAssignor } from './cooperative-sticky-assignor.ts'
import { rangeAssignor } from './range-assignor.ts'
import { roundRobinAssignor } from './round-robin-assignor.ts'
import { stickyAssignor } from './sticky-assignor.ts'

export type AssignorName = 'range' | 'roundrobin' | 'sticky' | 'cooperative-sticky'

const known: Readonly<Record<AssignorName, Assignor>> = {
  range: rangeAssignor,
  roundrobin: roundRobinAssignor,
  sticky: stickyAssignor,
  'cooperative-sticky': cooperativeStickyAssignor,
}

export function assignorsNamed(names: readonly AssignorName[]): readonly Assignor[] {
  if (names.length === 0) throw invalidArgument('assignors is empty')
  return names.map(name => {
    const assignor = known[name]
    if (assignor === undefined) throw invalidArgument(`assignors are ${Object.keys(known).join(', ')}; not ${name}`)
    return assignor
  })
}

/**
 * Members work on while they join only if every assignor that the group may choose can have it so. That is how a group
 * moves from one protocol to the other: all members first know both names, and then only the new one.
 */
export function commonProtocol(assignors: readonly Assignor[]): Assignor['protocol'] {
  return assignors.every(({ protocol }) => protocol === 'cooperative') ? 'cooperative' : 'eager'
}
