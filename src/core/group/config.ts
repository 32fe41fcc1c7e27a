/** The settings that the group coordinator decides by, with Kafka's names for them. */
export interface GroupConfig {
  /** group.min.session.timeout.ms */
  readonly minSessionTimeoutMs: number
  /** group.max.session.timeout.ms */
  readonly maxSessionTimeoutMs: number
  /** group.max.size: members of one classic group */
  readonly maxSize: number
  /** group.initial.rebalance.delay.ms */
  readonly initialRebalanceDelayMs: number
  /** offset.metadata.max.bytes; counted in UTF-16 units, as Kafka counts it */
  readonly offsetMetadataMaxBytes: number
  /** offsets.retention.minutes */
  readonly offsetsRetentionMs: number
  /** offsets.retention.check.interval.ms */
  readonly offsetsRetentionCheckIntervalMs: number
}
