import { ErrorCode } from '../../base/error-code.ts'
import type { ClassicGroup } from './classic/group.ts'
import { metadataFor, noAssignment } from './classic/member.ts'
import type { DescribeGroupsCommand } from './commands.ts'
import type { Draft } from './draft.ts'
import type { GroupStore } from './group-store.ts'
import type { Described } from './replies.ts'

/** From here on a group that does not exist is an error; before it is an answer: a dead group. */
const groupIdNotFoundVersion = 6

export function decideDescribeGroups(command: DescribeGroupsCommand, store: GroupStore, draft: Draft): Draft {
  const groups = command.groupIds.map(groupId => {
    const group = store.group(groupId)
    return group === undefined ? describeMissing(groupId, command.apiVersion) : describe(group)
  })
  return draft.reply(command.requestId, { type: 'describeGroups', groups })
}

function describeMissing(groupId: string, apiVersion: number): Described {
  const isError = apiVersion >= groupIdNotFoundVersion
  return {
    errorCode: isError ? ErrorCode.groupIdNotFound : ErrorCode.none,
    errorMessage: isError ? `Group ${groupId} not found.` : null,
    groupId,
    groupState: 'Dead',
    protocolType: '',
    protocolData: '',
    members: [],
  }
}

/** What members said and the protocol are shown only of a stable group: before, they are not settled. */
function describe(group: ClassicGroup): Described {
  const isStable = group.state === 'Stable'
  return {
    errorCode: ErrorCode.none,
    groupId: group.groupId,
    groupState: group.state,
    protocolType: group.protocolType ?? '',
    protocolData: isStable ? (group.protocolName ?? '') : '',
    members: [...group.members.values()].map(member => ({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId ?? null,
      clientId: member.clientId,
      clientHost: member.clientHost,
      memberMetadata: isStable ? (metadataFor(member, group.protocolName) ?? noAssignment) : noAssignment,
      memberAssignment: member.assignment,
    })),
  }
}
