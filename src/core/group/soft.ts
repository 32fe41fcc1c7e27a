import type { ClassicGroup } from './classic/group.ts'

/** What of the group coordinator's state is not logged. */
export type GroupSoft =
  /** The group, as changed, takes the place of the one before. */
  | { readonly type: 'group'; readonly group: ClassicGroup }
  /** With its sessions. */
  | { readonly type: 'groupRemoved'; readonly groupId: string }
  /** The member is heard of until then, or it is removed. */
  | { readonly type: 'session'; readonly groupId: string; readonly memberId: string; readonly atMs: number }
  | { readonly type: 'sessionEnded'; readonly groupId: string; readonly memberId: string }
  /** When to look for expired offsets next, and in which groups; none: a new round begins then. */
  | { readonly type: 'expiryRound'; readonly groupIds: readonly string[]; readonly atMs: number }
