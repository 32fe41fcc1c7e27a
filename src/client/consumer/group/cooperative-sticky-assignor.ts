import type { Assignor, GroupMember } from './assignor.ts'
import { balance } from './sticky-balance.ts'

/**
 * Kafka's `cooperative-sticky`: as `sticky`, but members go on working on what they keep. A partition that moves is first
 * given to nobody: its owner gives it up after this round and joins again, and the next round gives it to the new owner.
 * The generation is also told in the user data (int32), for leaders that do not read it in the subscription.
 */
export const cooperativeStickyAssignor: Assignor = {
  name: 'cooperative-sticky',
  protocol: 'cooperative',
  userData(last) {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(last?.generationId ?? -1)
    return bytes
  },
  assign(members, counts) {
    const claims = members.map(member => {
      return [member.memberId, { partitions: member.ownedPartitions, generationId: generationOf(member) }] as const
    })
    const target = balance(members, counts, new Map(claims))
    const owners = currentOwners(members)
    for (const [memberId, partitions] of target) {
      const free = partitions.filter(({ topic, partition }) => {
        const owner = owners.get(`${topic}-${partition}`)
        return owner === undefined || owner === memberId
      })
      target.set(memberId, free)
    }
    return target
  },
}

function generationOf({ generationId, userData }: GroupMember): number {
  if (generationId >= 0) return generationId
  return userData !== null && userData.length >= 4 ? userData.readInt32BE(0) : -1
}

/** Who works on each partition now. Of two that claim one, only the later generation can be right. */
function currentOwners(members: readonly GroupMember[]): Map<string, string> {
  const owners = new Map<string, { memberId: string; generationId: number }>()
  for (const member of members) {
    const generationId = generationOf(member)
    for (const { topic, partition } of member.ownedPartitions) {
      const name = `${topic}-${partition}`
      const other = owners.get(name)
      if (other === undefined || generationId > other.generationId)
        owners.set(name, { memberId: member.memberId, generationId })
    }
  }
  return new Map([...owners].map(([name, { memberId }]) => [name, memberId]))
}
