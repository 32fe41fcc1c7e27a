import { assert } from '../base/assert.ts'

/** A range of versions as Kafka writes it: `3`, `1-4`, `2+` or `none`. */
export type Versions = string

export interface VersionRange {
  readonly from: number
  /** Inclusive; Infinity for `2+`, and below `from` for `none`. */
  readonly to: number
}

export function parseVersions(text: Versions): VersionRange {
  if (text === 'none') return { from: Number.POSITIVE_INFINITY, to: -1 }
  const match = /^(\d+)(?:(\+)|-(\d+))?$/.exec(text)
  assert(match !== null, 'a version range reads 3, 1-4, 2+ or none')
  const from = Number(match[1])
  if (match[2] !== undefined) return { from, to: Number.POSITIVE_INFINITY }
  return { from, to: match[3] === undefined ? from : Number(match[3]) }
}

export function includesVersion(versions: Versions | undefined, version: number): boolean {
  if (versions === undefined) return false
  const { from, to } = parseVersions(versions)
  return version >= from && version <= to
}
