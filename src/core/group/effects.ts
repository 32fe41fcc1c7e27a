/** What operators want to hear of. None of it must happen for the coordinator to be right. */
export type GroupEffect =
  | { readonly type: 'rebalanceStarted'; readonly groupId: string; readonly reason: string }
  | {
      readonly type: 'generationStarted'
      readonly groupId: string
      readonly generationId: number
      readonly memberCount: number
    }
  | {
      readonly type: 'memberFailed'
      readonly groupId: string
      readonly memberId: string
      readonly reason: 'session timed out' | 'did not rejoin' | 'did not sync'
    }
  | { readonly type: 'offsetsExpired'; readonly count: number }
