import type { CommittedOffset } from '../records.ts'

/** A committed offset as it is kept: with the place of its record in the coordinator's log. */
export interface StoredOffset extends CommittedOffset {
  readonly recordOffset: number
}

type Partitions = Map<number, StoredOffset>
type Topics = Map<string, Partitions>
type Groups = Map<string, Topics>

/**
 * The committed offsets of all groups, and those of transactions that are still open: durable state, changed by records and
 * markers only.
 */
export class OffsetStore {
  readonly #committed: Groups = new Map()
  /** By producer id. */
  readonly #pending = new Map<number, Groups>()
  /** Producers with an open transaction that has offsets of the group. */
  readonly #openTransactions = new Map<string, Set<number>>()
  #count = 0

  /** Committed offsets of all groups. */
  get count(): number {
    return this.#count
  }

  get(groupId: string, topic: string, partition: number): StoredOffset | undefined {
    return this.#committed.get(groupId)?.get(topic)?.get(partition)
  }

  topicsOf(groupId: string): ReadonlyMap<string, ReadonlyMap<number, StoredOffset>> | undefined {
    return this.#committed.get(groupId)
  }

  /** Groups that have committed offsets, or will have if a transaction commits. */
  groupIds(): Set<string> {
    return new Set([...this.#committed.keys(), ...this.#openTransactions.keys()])
  }

  hasAny(groupId: string): boolean {
    return this.#committed.has(groupId) || this.#openTransactions.has(groupId)
  }

  hasOpenTransaction(groupId: string): boolean {
    return this.#openTransactions.has(groupId)
  }

  isPending(groupId: string, topic: string, partition: number): boolean {
    for (const producerId of this.#openTransactions.get(groupId) ?? []) {
      if (this.#pending.get(producerId)?.get(groupId)?.get(topic)?.has(partition)) return true
    }
    return false
  }

  /** Every partition with an offset of this group, committed or pending, once. */
  *partitionsOf(
    groupId: string,
  ): Generator<{ readonly topic: string; readonly partition: number; offset: StoredOffset }> {
    for (const [topic, partitions] of this.#committed.get(groupId) ?? []) {
      for (const [partition, offset] of partitions) yield { topic, partition, offset }
    }
    const seen = new Set<string>()
    for (const producerId of this.#openTransactions.get(groupId) ?? []) {
      for (const [topic, partitions] of this.#pending.get(producerId)?.get(groupId) ?? []) {
        for (const [partition, offset] of partitions) {
          const name = `${topic}/${partition}`
          if (seen.has(name) || this.get(groupId, topic, partition) !== undefined) continue
          seen.add(name)
          yield { topic, partition, offset }
        }
      }
    }
  }

  put(groupId: string, topic: string, partition: number, offset: StoredOffset): void {
    if (putInto(this.#committed, groupId, topic, partition, offset)) this.#count++
  }

  /** Part of a transaction: it counts once the producer's marker says so. */
  putPending(producerId: number, groupId: string, topic: string, partition: number, offset: StoredOffset): void {
    putInto(mapIn(this.#pending, producerId), groupId, topic, partition, offset)
    const producers = this.#openTransactions.get(groupId)
    if (producers === undefined) this.#openTransactions.set(groupId, new Set([producerId]))
    else producers.add(producerId)
  }

  /** A tombstone removes what is committed and what is pending. */
  remove(groupId: string, topic: string, partition: number): void {
    if (removeFrom(this.#committed, groupId, topic, partition)) this.#count--
    for (const producerId of this.#openTransactions.get(groupId) ?? []) {
      removeFrom(this.#pending.get(producerId)!, groupId, topic, partition)
    }
  }

  endTransaction(producerId: number, committed: boolean): void {
    const groups = this.#pending.get(producerId)
    this.#pending.delete(producerId)
    for (const [groupId, producers] of this.#openTransactions) {
      if (producers.delete(producerId) && producers.size === 0) this.#openTransactions.delete(groupId)
    }
    if (groups === undefined || !committed) return
    for (const [groupId, topics] of groups) {
      for (const [topic, partitions] of topics) {
        for (const [partition, offset] of partitions) this.#commitPending(groupId, topic, partition, offset)
      }
    }
  }

  inspect(): unknown {
    return { committed: plain(this.#committed), pending: plain(this.#pending), open: plain(this.#openTransactions) }
  }

  /**
   * The later record wins, whether of a transaction or not: compaction keeps only it, so a replay after compaction would
   * come to another result if the marker decided.
   */
  #commitPending(groupId: string, topic: string, partition: number, offset: StoredOffset): void {
    const present = this.get(groupId, topic, partition)
    if (present === undefined || offset.recordOffset > present.recordOffset) this.put(groupId, topic, partition, offset)
  }
}

function mapIn<K, K2, V>(maps: Map<K, Map<K2, V>>, key: K): Map<K2, V> {
  const present = maps.get(key)
  if (present !== undefined) return present
  const map = new Map<K2, V>()
  maps.set(key, map)
  return map
}

/** Whether it is the partition's first. */
function putInto(groups: Groups, groupId: string, topic: string, partition: number, offset: StoredOffset): boolean {
  const partitions = mapIn(mapIn(groups, groupId), topic)
  const isNew = !partitions.has(partition)
  partitions.set(partition, offset)
  return isNew
}

function removeFrom(groups: Groups, groupId: string, topic: string, partition: number): boolean {
  const topics = groups.get(groupId)
  const partitions = topics?.get(topic)
  if (topics === undefined || partitions === undefined || !partitions.delete(partition)) return false
  if (partitions.size === 0) topics.delete(topic)
  if (topics.size === 0) groups.delete(groupId)
  return true
}

/** Nested maps and sets as sorted arrays, so that equal states print and compare equal whatever came first. */
function plain(value: unknown): unknown {
  if (value instanceof Set) return [...value].sort(byText)
  if (!(value instanceof Map)) return value
  return [...value].map(([key, inner]) => [key, plain(inner)]).sort(([a], [b]) => byText(a, b))
}

function byText(a: unknown, b: unknown): number {
  const [textA, textB] = [String(a), String(b)]
  return textA < textB ? -1 : textA > textB ? 1 : 0
}
