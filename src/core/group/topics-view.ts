import type { Uuid } from '../../base/uuid.ts'

/** What the group coordinator asks of the metadata image: each answer is of the newest committed one. */
export interface TopicsView {
  /** Undefined when there is no such topic. */
  topic(name: string): { readonly topicId: Uuid; readonly partitionCount: number } | undefined
}
