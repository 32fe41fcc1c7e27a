import type { Uuid } from '../../base/uuid.ts'

/** Where an operation went: by topic id, or by name, when only the name was said. */
export interface Target {
  readonly topic: string
  /** The id under which it was asked for; undefined: by name, so that it may be any topic that had it then. */
  readonly topicId: Uuid | undefined
  readonly partition: number
}

/** A record as it was sent or read. `value` is unique in a run; `digest` covers its key, value and headers. */
export interface SeenRecord {
  readonly value: string
  readonly digest: string
  /** All 64 bits in decimal; undefined where the broker's own time stands in its place. */
  readonly timestamp: string | undefined
  readonly key?: string | null
  readonly isTombstone?: boolean
}

export interface ReadRecord extends SeenRecord {
  readonly offset: number
}

export interface SendRequest extends Target {
  /** 0, 1 or -1 for all. */
  readonly acks: number
  readonly records: readonly SeenRecord[]
  /** Of an idempotent producer. */
  readonly producer: { readonly id: number; readonly epoch: number; readonly sequence: number } | undefined
  /** 1 for the first time that this batch is sent. */
  readonly attempt: number
}

export interface PollRequest extends Target {
  readonly offset: number
  /** From a client that fetches ahead: what it hands out may have been read since this place in the history. */
  readonly since?: number
  /** Where the records ended that the same reader was handed of this partition before, with nothing in between. */
  readonly after?: number
  /** The first records that a member of this group was handed of the partition. */
  readonly beginsFor?: string
  /** What it was handed may be committed for this group without a word. */
  readonly commitsFor?: string
  readonly isolation: 'readUncommitted' | 'readCommitted'
}

export interface PollAnswer {
  /** From the offset asked for on, without what a batch holds before it. */
  readonly records: readonly ReadRecord[]
  /** Where the reader goes on: behind the last batch, which may be empty. */
  readonly nextOffset?: number
  readonly highWatermark: number
  readonly lastStableOffset: number
  /** -1 where the version of the answer does not say. */
  readonly logStartOffset: number
}

export interface GroupTarget {
  readonly group: string
  readonly member: string
  readonly generation: number
}

/** `token` is unique to one commit, and travels as its metadata. */
export interface Commit extends GroupTarget, Target {
  readonly offset: number
  /** From a client that commits for the topic it has read, whoever has its name by now: when it began to read, in the history. */
  readonly since?: number
  readonly token: string
}

export interface CommittedOffset extends Target {
  /** -1: none. */
  readonly offset: number
  readonly token: string
}

interface Operation<Request, Answer> {
  readonly request: Request
  readonly answer: Answer
}

/** Every kind of call that a history holds. */
export interface Operations {
  send: Operation<SendRequest, { readonly baseOffset: number }>
  poll: Operation<PollRequest, PollAnswer>
  /** -2 the earliest offset, -1 the latest, otherwise a time. */
  listOffset: Operation<
    Target & { readonly timestamp: number },
    { readonly offset: number; readonly timestamp: number }
  >
  /** The newest epoch up to the one asked for, and where it ends; -1 where there is none. */
  epochEnd: Operation<
    Target & { readonly leaderEpoch: number },
    { readonly leaderEpoch: number; readonly endOffset: number }
  >
  initProducer: Operation<
    { readonly id: number; readonly epoch: number },
    { readonly id: number; readonly epoch: number }
  >
  createTopic: Operation<{ readonly topic: string; readonly partitions: number }, { readonly topicId: Uuid }>
  deleteTopic: Operation<{ readonly topic: string; readonly topicId: Uuid | undefined }, Record<never, never>>
  createPartitions: Operation<{ readonly topic: string; readonly count: number }, Record<never, never>>
  deleteRecords: Operation<Target & { readonly offset: number }, { readonly lowWatermark: number }>
  alterConfig: Operation<
    { readonly topic: string; readonly config: Readonly<Record<string, string>> },
    Record<never, never>
  >
  join: Operation<
    { readonly group: string; readonly member: string; readonly instance: string | undefined },
    { readonly member: string; readonly generation: number; readonly isLeader: boolean }
  >
  /** `shares` are what the leader gives to each member; null from the others. */
  sync: Operation<
    GroupTarget & { readonly shares: Readonly<Record<string, readonly string[]>> | null },
    { readonly share: readonly string[] }
  >
  heartbeat: Operation<GroupTarget, Record<never, never>>
  leave: Operation<{ readonly group: string; readonly member: string }, Record<never, never>>
  commit: Operation<Commit, Record<never, never>>
  fetchCommitted: Operation<{ readonly group: string } & Target, CommittedOffset>
  /** A call of our own client; it has to end by then, whatever happens. */
  clientCall: Operation<{ readonly what: string; readonly timeoutMs: number }, Record<never, never>>
}

export type OperationName = keyof Operations
export type RequestOf<F extends OperationName> = Operations[F]['request']
export type AnswerOf<F extends OperationName> = Operations[F]['answer']

/** What happened beside the calls. */
export interface Marks {
  /** A broker's process began, by whatever way the one before ended. */
  started: { readonly node: string; readonly life: number }
  ended: { readonly node: string; readonly life: number; readonly how: 'kill' | 'power' | 'closed' | 'failed' }
  /** It has been asked to stop: clients are told that it leads no more. */
  closing: { readonly node: string; readonly life: number }
  /** The generations of a group, or of all groups when none is named, are numbered anew from here on. */
  numberedAnew: { readonly group: string | undefined }
  /** In the life of one broker a log directory has failed: what lies there is not served until the broker has ended. */
  offline: { readonly directory: string; readonly partitions: readonly Target[] }
  /** What a power cut took of a partition: everything from this offset on. */
  cut: Target & { readonly from: number }
  /** Bytes were damaged on purpose: these offsets may be missing, but never wrong. */
  damaged: Target & { readonly from: number; readonly to: number }
  /** In the life of one broker a log whose records go by their age began further on; `sizeBytes` of it were left. */
  logStartMoved: Target & {
    readonly from: number
    readonly to: number
    /** By the broker's clock. */
    readonly wallMs: number
    readonly sizeBytes: number
  }
  /** A client was told of the topic under this id for the first time. */
  seenTopic: { readonly topic: string; readonly topicId: Uuid }
  fault: { readonly text: string }
  phase: { readonly name: string }
}

export type MarkName = keyof Marks
