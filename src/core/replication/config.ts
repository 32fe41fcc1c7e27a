export interface ReplicationConfig {
  /** Of this broker. */
  readonly nodeId: number
  /** `replica.lag.time.max.ms`: who was not caught up for longer leaves the in-sync replicas. */
  readonly replicaLagTimeMaxMs: number
  /** `replica.fetch.backoff.ms`: how long a follower waits after an error before it asks again. */
  readonly fetchBackoffMs: number
  /** How long a leader waits before it asks the controller again, or for something else than what was refused. */
  readonly alterBackoffMs: number
  /**
   * `millrace.flush=ack`: the own end counts once it is synced, and a follower syncs what it has before it asks for more, so
   * that its fetch offset says what would survive a power cut.
   */
  readonly flushBeforeAck: boolean
  /**
   * What a follower does when its leader does not have what is committed. `report`: it says so (`committedLost`) and follows
   * the leader, as Kafka does; that is right wherever data may be lost by decision (unclean elections, too many power cuts
   * without flush=ack). `halt`: nobody decided so, hence an invariant is broken.
   */
  readonly onCommittedLoss: 'report' | 'halt'
}
