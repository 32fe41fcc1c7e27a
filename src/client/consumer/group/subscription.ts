import { ErrorCode } from '../../../base/error-code.ts'
import type { Cluster } from '../../cluster/cluster.ts'
import { invalidArgument } from '../../millrace-error.ts'

/**
 * The topics that a consumer subscribes to: by name, whether they exist or not, and by pattern, those that exist. While it
 * lasts their metadata is kept up to date.
 */
export class Subscription {
  readonly #cluster: Cluster
  readonly #names: readonly string[]
  readonly #patterns: readonly RegExp[]
  readonly #endings: (() => void)[] = []

  constructor(cluster: Cluster, topics: readonly (string | RegExp)[], { createTopics }: { createTopics: boolean }) {
    if (topics.length === 0) throw invalidArgument('a subscription needs topics')
    this.#cluster = cluster
    this.#names = topics.filter(topic => typeof topic === 'string')
    this.#patterns = topics.filter(topic => topic instanceof RegExp)
    if (this.#patterns.some(({ global, sticky }) => global || sticky)) {
      throw invalidArgument('patterns cannot have the flags g and y')
    }
    for (const name of this.#names) this.#endings.push(cluster.watch(name, { create: createTopics }))
    if (this.#patterns.length > 0) this.#endings.push(cluster.watchAll())
  }

  end(): void {
    for (const end of this.#endings) end()
    this.#endings.length = 0
  }

  /** By name, in order. Topics of the brokers' own are found by name only. */
  topics(): readonly string[] {
    const matching = this.#cluster.metadata.topics.filter(({ name, isInternal, errorCode }) => {
      return !isInternal && errorCode === ErrorCode.none && this.#patterns.some(pattern => pattern.test(name))
    })
    return [...new Set([...this.#names, ...matching.map(({ name }) => name)])].sort()
  }
}
