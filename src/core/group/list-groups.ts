import { ErrorCode } from '../../base/error-code.ts'
import type { ListGroupsCommand } from './commands.ts'
import type { Draft } from './draft.ts'
import type { GroupStore } from './group-store.ts'
import type { Listed } from './replies.ts'

const classicType = 'classic'

/** Filters match without regard to case; an empty one lets everything through, a word that means nothing lets nothing. */
export function decideListGroups(command: ListGroupsCommand, store: GroupStore, draft: Draft): Draft {
  const states = command.statesFilter.map(state => state.toLowerCase().trim())
  const types = command.typesFilter.map(type => type.toLowerCase())
  const groups: Listed[] = []
  if (types.length === 0 || types.includes(classicType)) {
    for (const groupId of store.groupIds()) {
      const { state, protocolType } = store.group(groupId)!
      if (states.length > 0 && !states.includes(state.toLowerCase())) continue
      groups.push({ groupId, protocolType: protocolType ?? '', groupState: state, groupType: classicType })
    }
  }
  return draft.reply(command.requestId, { type: 'listGroups', errorCode: ErrorCode.none, groups })
}
