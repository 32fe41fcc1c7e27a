import { ErrorCode, errorName } from '../base/error-code.ts'
import { ApiKey, apiOf } from '../protocol/apis.ts'
import type { ApiVersionsResponse } from '../protocol/messages/api-versions.ts'

/** What a broker says it speaks. */
export type VersionRanges = ReadonlyMap<ApiKey, { readonly minVersion: number; readonly maxVersion: number }>

export type NegotiationStep =
  | { readonly type: 'ask'; readonly version: number }
  /** Connect anew and ask in this version: the broker has closed the connection on an earlier one. */
  | { readonly type: 'reconnect'; readonly version: number }
  | { readonly type: 'agreed'; readonly ranges: VersionRanges; readonly answer: ApiVersionsResponse }
  | { readonly type: 'wrongNode' }
  | { readonly type: 'failed'; readonly reason: string }

const newestVersion = apiOf(ApiKey.apiVersions)!.maxVersion
/** Asked of a broker that closes on a version it does not know: the first flexible version, then the oldest. */
const lastResorts = [3, 0]

/**
 * Finds the version of ApiVersions that both ends speak, and with it what the broker speaks.
 *
 * A broker that does not know the version answers `unsupportedVersion`, in version 0, naming the range it knows; some old
 * ones close the connection instead. Each step asks an older version than the one before, so this ends.
 */
export class Negotiation {
  #version = newestVersion

  start(): NegotiationStep {
    return { type: 'ask', version: this.#version }
  }

  get version(): number {
    return this.#version
  }

  answered(answer: ApiVersionsResponse): NegotiationStep {
    if (answer.errorCode === ErrorCode.unsupportedVersion) return this.#askOlder(answer)
    if (answer.errorCode === ErrorCode.rebootstrapRequired) return { type: 'wrongNode' }
    if (answer.errorCode !== ErrorCode.none) {
      return { type: 'failed', reason: `the broker refused ApiVersions: ${errorName(answer.errorCode)}` }
    }
    const ranges = new Map(answer.apiKeys.map(({ apiKey, ...range }) => [apiKey, range]))
    return { type: 'agreed', ranges, answer }
  }

  /** The broker closed the connection instead of answering. */
  closed(): NegotiationStep {
    const older = lastResorts.find(version => version < this.#version)
    if (older === undefined) return { type: 'failed', reason: 'the broker closes the connection on every ApiVersions' }
    this.#version = older
    return { type: 'reconnect', version: older }
  }

  #askOlder(answer: ApiVersionsResponse): NegotiationStep {
    const range = answer.apiKeys.find(({ apiKey }) => apiKey === ApiKey.apiVersions)
    const older = range === undefined || range.maxVersion < 0 ? 0 : range.maxVersion
    if (older >= this.#version) {
      return { type: 'failed', reason: `the broker refuses the version of ApiVersions that it offers (${older})` }
    }
    this.#version = older
    return { type: 'ask', version: older }
  }
}

/**
 * The highest version of an API that both ends speak, and that is at most `maxVersion`; undefined when there is none.
 * Versions that Kafka does not call stable are never chosen.
 */
export function highestCommonVersion(
  ranges: VersionRanges,
  apiKey: ApiKey,
  maxVersion = Number.POSITIVE_INFINITY,
): number | undefined {
  const ours = apiOf(apiKey)
  const theirs = ranges.get(apiKey)
  if (ours === undefined || theirs === undefined) return undefined
  const version = Math.min(ours.maxVersion, theirs.maxVersion, maxVersion)
  return version >= ours.minVersion && version >= theirs.minVersion ? version : undefined
}
