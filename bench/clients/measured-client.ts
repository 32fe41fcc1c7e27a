export interface PlainRecord {
  readonly partition: number
  readonly value: Buffer
}

/** A client that is measured: what an application does with it, in the way its own documentation shows. */
export interface MeasuredClient {
  /** Resolves when all are acknowledged by all in-sync replicas. */
  send(topic: string, records: readonly PlainRecord[]): Promise<void>
  /** Reads a topic from its beginning, as the only member of a group, until `seen`, told of each value, says that it is enough. */
  consume(topic: string, seen: (value: Buffer) => boolean): Promise<void>
  close(): Promise<void>
}

/** `packages` is where the client was installed. */
export type ConnectClient = (bootstrap: string, packages: string) => Promise<MeasuredClient>
