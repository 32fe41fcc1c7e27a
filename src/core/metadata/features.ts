import type { KnownType } from './records.ts'

/** Its level is not among the metadata: control records of the quorum have it. */
export const kraftVersionFeature = 'kraft.version'

export interface LevelRange {
  readonly min: number
  readonly max: number
}

/**
 * Kafka's features, with the levels at which this release does what they say. Level 0 is none. What a feature of a higher
 * level governs, in a directory that Kafka has written, is kept and refused.
 */
export const supportedFeatures: ReadonlyMap<string, LevelRange> = new Map([
  ['metadata.version', { min: 7, max: 33 }],
  ['kraft.version', { min: 0, max: 1 }],
  ['transaction.version', { min: 0, max: 0 }],
  ['group.version', { min: 0, max: 0 }],
  ['eligible.leader.replicas.version', { min: 0, max: 0 }],
  ['share.version', { min: 0, max: 0 }],
  ['streams.version', { min: 0, max: 0 }],
])

/**
 * The levels that Kafka 4.4 has. A broker registers with these, so that it can come into service in a directory whose features
 * Kafka has raised; what they govern beyond `supportedFeatures` is refused where it is asked for.
 */
export const toleratedFeatures: ReadonlyMap<string, LevelRange> = new Map([
  ['metadata.version', { min: 7, max: 33 }],
  ['kraft.version', { min: 0, max: 1 }],
  ['transaction.version', { min: 0, max: 2 }],
  ['group.version', { min: 0, max: 1 }],
  ['eligible.leader.replicas.version', { min: 0, max: 1 }],
  ['share.version', { min: 0, max: 2 }],
  ['streams.version', { min: 0, max: 1 }],
])

/** Features at a level that this release does not do: of a directory that Kafka has written. For one line in the log. */
export function unimplementedFeatures(levels: ReadonlyMap<string, number>): { name: string; level: number }[] {
  return [...levels]
    .map(([name, level]) => ({ name, level }))
    .filter(({ name, level }) => level > (supportedFeatures.get(name)?.max ?? 0))
}

/** What a new cluster is formatted with: Kafka 4.4's own. */
export const bootstrapMetadataVersion = 33
/** No release of Kafka 4 runs below it, so a log that says nothing of its version has it. */
export const oldestMetadataVersion = 7

export const metadataVersionFeature = 'metadata.version'
export const elrFeature = 'eligible.leader.replicas.version'

/** The record types that have more than one version, and from which metadata.version each is written. */
const versionsSince: ReadonlyMap<KnownType, readonly number[]> = new Map([
  ['registerBroker', [0, 7, 8, 17, 30]],
  ['partition', [0, 17, 23]],
  ['partitionChange', [0, 17, 23]],
])

/** The version in which a record is written at a level of metadata.version. */
export function recordVersion(type: KnownType, metadataVersion: number): number {
  const since = versionsSince.get(type) ?? [0]
  return since.findLastIndex(level => metadataVersion >= level)
}
