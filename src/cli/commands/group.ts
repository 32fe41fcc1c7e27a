import type { Command } from 'commander'
import { countOf } from '../../base/count-of.ts'
import type { Admin, CommittedOffset, TopicPartition } from '../../client/index.ts'
import { confirm } from '../confirm.ts'
import { addConnectFlags, type ConnectFlags, failIfAny, withClient } from '../connect.ts'
import { dateMs, durationMs, Needed, type Parse, repeated, someText, valued, wholeNumber } from '../option-values.ts'
import { CommandFailure, ExitCode, print, printDone, printFound, table } from '../output.ts'

export function addGroup(program: Command): void {
  const group = program.command('group').description('List, describe, reset and delete consumer groups.')
  addConnectFlags(group.command('list'))
    .description('List groups.')
    .addHelpText('after', '\nExample:\n  millrace group list')
    .action(list)
  addConnectFlags(group.command('describe <groups...>'))
    .description('Show members, committed offsets and lag.')
    .addHelpText('after', '\nExample:\n  millrace group describe billing')
    .action(describe)
  addConnectFlags(group.command('reset-offsets <group>'))
    .description('Move committed offsets of a group without members. Shows the plan; --execute carries it out.')
    .addOption(
      repeated('-t, --topic <name>', 'only this topic (all the group has committed in, if not given)', someText),
    )
    .option('--to-earliest', 'to the first record')
    .option('--to-latest', 'to the end')
    .addOption(valued('--to-offset <n>', 'to this offset', wholeNumber(0)))
    .addOption(
      valued('--to-datetime <date>', 'to the first record from that time on; to the end, if there is none', dateMs),
    )
    .addOption(valued('--by-duration <duration>', 'to the first record of the last 30s, 15m, 6h or 7d', durationMs))
    .addOption(valued('--shift-by <n>', 'so many records on, or back if negative', shift))
    .option('--execute', 'do it')
    .addHelpText('after', '\nExample:\n  millrace group reset-offsets billing --topic orders --to-earliest --execute')
    .action(reset)
  addConnectFlags(group.command('delete <groups...>'))
    .description('Delete groups without members, with their offsets.')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  millrace group delete billing --yes')
    .action(remove)
}

async function list(flags: ConnectFlags): Promise<void> {
  await withClient(flags, async client => {
    const groups = await client.admin().listGroups()
    print(groups, flags.json, all =>
      all.length === 0
        ? 'There are no groups.'
        : table(
            ['group', 'state', 'type'],
            all.map(one => [one.groupId, one.state, one.type || one.protocolType]),
          ),
    )
  })
}

async function describe(groupIds: string[], flags: ConnectFlags): Promise<void> {
  await withClient(flags, async client => {
    const admin = client.admin()
    const groups = []
    const failures: { readonly error: { readonly message: string } }[] = []
    for (const described of await admin.describeGroups(groupIds)) {
      if (described.error !== undefined) {
        failures.push(described)
        continue
      }
      const { groupId, state, assignor, coordinator, members } = described
      const committed = await committedOffsets(admin, groupId)
      if (state === 'Dead' && committed.length === 0) {
        failures.push({ error: { message: `there is no group ${groupId}` } })
        continue
      }
      const ends = await find(admin, committed, 'latest')
      const ownerOf = (one: TopicPartition) =>
        members.find(member =>
          member.assignment?.some(own => own.topic === one.topic && own.partition === one.partition),
        )
      groups.push({
        groupId,
        state,
        assignor,
        coordinator,
        members: members.map(({ memberId, groupInstanceId, clientId, clientHost, assignment }) => ({
          memberId,
          groupInstanceId,
          clientId,
          clientHost,
          assignment,
        })),
        offsets: committed.map((one, index) => ({
          topic: one.topic,
          partition: one.partition,
          committed: one.offset,
          end: ends[index],
          lag: ends[index] === null ? null : Math.max(0, ends[index] - one.offset),
          member: ownerOf(one)?.memberId ?? null,
        })),
      })
    }
    printFound(groups, flags.json, all => all.map(textOfGroup).join('\n\n'))
    failIfAny(failures)
  })
}

/** What the group has committed, in the order of topics and partitions. */
async function committedOffsets(admin: Admin, groupId: string): Promise<CommittedOffset[]> {
  const offsets = (await admin.listGroupOffsets(groupId)).filter(one => one.offset >= 0)
  return offsets.sort((a, b) => (a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1))
}

interface ShownGroup {
  readonly groupId: string
  readonly state: string
  readonly assignor: string
  readonly coordinator: number
  readonly members: readonly unknown[]
  readonly offsets: readonly {
    readonly topic: string
    readonly partition: number
    readonly committed: number
    readonly end: number | null
    readonly lag: number | null
    readonly member: string | null
  }[]
}

function textOfGroup({ groupId, state, assignor, coordinator, members, offsets }: ShownGroup): string {
  const head = `${groupId}: ${state}, ${countOf(members.length, 'member')}${assignor ? `, assignor ${assignor}` : ''}, coordinator ${coordinator}`
  if (offsets.length === 0) return `${head}\nNothing is committed.`
  const rows = offsets.map(one => [one.topic, one.partition, one.committed, one.end, one.lag, one.member])
  return `${head}\n${table(['topic', 'partition', 'committed', 'end', 'lag', 'member'], rows)}`
}

/** Offsets of a place; null where the partition is gone. A time after the last record means the end. */
async function find(
  admin: Admin,
  partitions: readonly TopicPartition[],
  spec: 'earliest' | 'latest' | { readonly timestamp: bigint },
): Promise<(number | null)[]> {
  if (partitions.length === 0) return []
  const found = await admin.listOffsets(partitions.map(({ topic, partition }) => ({ topic, partition, spec })))
  const offsets = found.map(({ error, offset }) => {
    if (error === undefined) return offset
    // Any other error may pass, and an offset of a guess would do harm.
    if (error.code === 'UNKNOWN_TOPIC_OR_PARTITION') return null
    throw error
  })
  if (typeof spec === 'string' || !offsets.includes(-1)) return offsets
  const ends = await find(admin, partitions, 'latest')
  return offsets.map((offset, index) => (offset === -1 ? ends[index] : offset))
}

interface ResetFlags extends ConnectFlags {
  readonly topic?: readonly string[]
  readonly toEarliest?: true
  readonly toLatest?: true
  readonly toOffset?: number
  /** Milliseconds. */
  readonly toDatetime?: number
  /** Milliseconds. */
  readonly byDuration?: number
  readonly shiftBy?: number
  readonly execute?: true
}

async function reset(groupId: string, flags: ResetFlags): Promise<void> {
  const target = targetOf(flags)
  await withClient(flags, async client => {
    const admin = client.admin()
    const committed = await committedOffsets(admin, groupId)
    const partitions = await partitionsOf(admin, committed, flags.topic ?? [])
    if (partitions.length === 0)
      throw new CommandFailure(`${groupId} has committed nothing: say --topic`, ExitCode.usage)
    const [firsts, ends] = [await find(admin, partitions, 'earliest'), await find(admin, partitions, 'latest')]
    const wanted = await target(admin, partitions, committed)
    const plan = partitions.flatMap(({ topic, partition }, index) => {
      const before = committed.find(one => one.topic === topic && one.partition === partition)?.offset ?? null
      const [first, end, offset] = [firsts[index], ends[index], wanted[index]]
      // Its topic is gone; the offset that is committed there goes by itself.
      if (first === null || end === null || offset === null) return []
      return [{ topic, partition, before, after: Math.min(Math.max(offset, first), end), wanted: offset }]
    })
    if (plan.length === 0) throw new CommandFailure(`all that ${groupId} has committed in is gone`)
    if (flags.execute) {
      const results = await admin.alterGroupOffsets(
        groupId,
        plan.map(({ topic, partition, after }) => ({ topic, partition, offset: after })),
      )
      const failed = results.find(result => result.error !== undefined)
      if (failed?.error !== undefined) throw failed.error
    }
    print({ groupId, executed: flags.execute ?? false, plan }, flags.json, one => {
      const rows = one.plan.map(row => [row.topic, row.partition, row.before, row.after])
      const moved = one.plan.filter(row => row.wanted !== row.after).map(row => `${row.topic}-${row.partition}`)
      const nearest = moved.length === 0 ? '' : `Not there, so the nearest is taken: ${moved.join(', ')}.\n`
      const note = one.executed ? 'Done.' : 'Nothing was changed: this is the plan. Say --execute to carry it out.'
      return `${table(['topic', 'partition', 'committed', 'new'], rows)}\n${nearest}${note}`
    })
  })
}

async function partitionsOf(
  admin: Admin,
  committed: readonly CommittedOffset[],
  topics: readonly string[],
): Promise<TopicPartition[]> {
  if (topics.length === 0) return committed.map(({ topic, partition }) => ({ topic, partition }))
  const partitions: TopicPartition[] = []
  for (const described of await admin.describeTopics(topics)) {
    if (described.error !== undefined) throw described.error
    for (const { partition } of described.partitions) partitions.push({ topic: described.name, partition })
  }
  return partitions
}

type Target = (
  admin: Admin,
  partitions: readonly TopicPartition[],
  committed: readonly CommittedOffset[],
) => Promise<(number | null)[]>

function targetOf(flags: ResetFlags): Target {
  const targets: Target[] = []
  if (flags.toEarliest) targets.push((admin, partitions) => find(admin, partitions, 'earliest'))
  if (flags.toLatest) targets.push((admin, partitions) => find(admin, partitions, 'latest'))
  const { toOffset, toDatetime, byDuration, shiftBy } = flags
  if (toOffset !== undefined) targets.push(async (_admin, partitions) => partitions.map(() => toOffset))
  if (toDatetime !== undefined) targets.push(byTime(toDatetime))
  if (byDuration !== undefined) targets.push(byTime(Date.now() - byDuration))
  if (shiftBy !== undefined) {
    targets.push(async (_admin, partitions, committed) =>
      partitions.map(({ topic, partition }) => {
        const before = committed.find(one => one.topic === topic && one.partition === partition)
        if (before === undefined)
          throw new CommandFailure(`nothing is committed in ${topic}-${partition}, so there is nothing to shift from`)
        return before.offset + shiftBy
      }),
    )
  }
  if (targets.length !== 1) {
    throw new CommandFailure(
      'say one of --to-earliest, --to-latest, --to-offset, --to-datetime, --by-duration, --shift-by',
      ExitCode.usage,
    )
  }
  return targets[0]
}

/** Below 0 a timestamp has a meaning of its own in the protocol. */
function byTime(ms: number): Target {
  return (admin, partitions) => find(admin, partitions, { timestamp: BigInt(Math.max(0, ms)) })
}

const shift: Parse<number> = text => {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : new Needed('a whole number, such as 10 or -10,')
}

async function remove(groupIds: string[], flags: ConnectFlags & { readonly yes?: true }): Promise<void> {
  await confirm(`Delete ${groupIds.join(', ')} with all committed offsets?`, flags.yes)
  await withClient(flags, async client => {
    const results = await client.admin().deleteGroups(groupIds)
    const deleted = groupIds.filter((_, index) => results[index].error === undefined)
    printDone(
      deleted.map(groupId => ({ groupId, deleted: true })),
      flags.json,
      one => `${one.groupId} deleted.`,
    )
    failIfAny(results)
  })
}
