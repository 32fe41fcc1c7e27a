import type { Uuid } from '../../base/uuid.ts'
import type { History } from '../history/history.ts'
import type { SeenRecord } from '../history/operations.ts'
import type { PlannedTopic } from '../plan.ts'
import type { Incarnations } from './incarnations.ts'
import { partitionKey, type Truth } from './partition-truth.ts'

/** A record whose place somebody was told. */
export interface KnownRecord {
  readonly offset: number
  readonly value: string
  readonly key: string
  readonly isTombstone: boolean
  /** Not before this time it was appended; when its sender is not known, when it was first read. */
  readonly notBeforeMs: number
  /** Where in the history somebody asked for what told of it, for the first time. */
  readonly toldAt: number
}

interface KnownPartition {
  /** Several where a power cut has taken the first, and another was written there. */
  readonly byOffset: Map<number, KnownRecord[]>
  /** In the order of their offsets. */
  readonly byKey: Map<string, KnownRecord[]>
  /** By key: records that may be there although nobody was told. */
  readonly unsure: Map<string, Unsure[]>
}

interface Unsure {
  readonly value: string
  readonly invokedMs: number
}

/** A request that nobody answered may have its effect this much later. */
const maxUnderWayMs = 15_000

interface KnownInput {
  readonly history: History
  readonly plan: { readonly topics: readonly PlannedTopic[] }
  readonly truth: Truth
}

/** What clients know of the records of compacted topics: it says which of them may be gone. */
export class KnownRecords {
  readonly #compacted: ReadonlyMap<string, PlannedTopic>
  readonly #partitions = new Map<string, KnownPartition>()
  readonly #topicOf = new Map<Uuid, string>()
  /** Where they lie is known. */
  readonly #seenValues = new Set<string>()

  constructor({ history, plan: { topics }, truth }: KnownInput, incarnations: Incarnations) {
    this.#compacted = new Map(topics.filter(topic => topic.isCompacted === true).map(topic => [topic.name, topic]))
    if (this.#compacted.size === 0) return
    for (const call of history.callsOf('createTopic'))
      if (call.answer !== undefined) this.#topicOf.set(call.answer.topicId, call.request.topic)
    for (const { value } of history.marksOf('seenTopic')) this.#topicOf.set(value.topicId, value.topic)
    const sentAt = new Map<string, number>()
    for (const call of history.callsOf('send')) {
      const { request, answer, invokedMs } = call
      if (!this.#compacted.has(request.topic)) continue
      const topicId = incarnations.reached(request, call)
      for (const [index, record] of request.records.entries()) {
        const firstMs = Math.min(invokedMs, sentAt.get(record.value) ?? invokedMs)
        sentAt.set(record.value, firstMs)
        if (record.key === undefined || record.key === null || call.outcome === 'fail') continue
        if (topicId === undefined || answer === undefined) {
          for (const id of topicId === undefined ? this.#idsOf(request.topic) : [topicId])
            this.#addUnsure(id, request.partition, record.key, record.value, invokedMs)
        } else this.#add(topicId, request.partition, answer.baseOffset + index, record, firstMs, call.invokedAt)
      }
    }
    for (const call of history.callsOf('poll')) {
      const { request, answer, endedMs } = call
      const topicId = answer && incarnations.reached(request, call)
      if (topicId === undefined || !this.#compacted.has(request.topic)) continue
      for (const record of answer!.records)
        this.#add(
          topicId,
          request.partition,
          record.offset,
          record,
          sentAt.get(record.value) ?? endedMs,
          call.invokedAt,
        )
    }
    for (const { topic, topicId, partition, records } of truth.values()) {
      if (!this.#compacted.has(topic)) continue
      this.#topicOf.set(topicId, topic)
      for (const record of records.values()) {
        const sentMs = sentAt.get(record.value) ?? Number.POSITIVE_INFINITY
        this.#add(topicId, partition, record.offset, record, sentMs, Number.POSITIVE_INFINITY)
      }
    }
    for (const { byKey } of this.#partitions.values())
      for (const records of byKey.values()) records.sort((a, b) => a.offset - b.offset)
  }

  isCompactedName(topic: string): boolean {
    return this.#compacted.has(topic)
  }

  isCompacted(topicId: Uuid): boolean {
    return this.#compacted.has(this.#topicOf.get(topicId) ?? '')
  }

  /** `delete.retention.ms` of the topic. */
  deleteRetentionMs(topicId: Uuid): number {
    const topic = this.#compacted.get(this.#topicOf.get(topicId) ?? '')
    return Number(topic?.config['delete.retention.ms'] ?? 86_400_000)
  }

  at(topicId: Uuid, partition: number, offset: number): readonly KnownRecord[] {
    return this.#partitions.get(partitionKey(topicId, partition))?.byOffset.get(offset) ?? []
  }

  /** Records of the key behind this offset. */
  later(topicId: Uuid, partition: number, { key, offset }: { key: string; offset: number }): readonly KnownRecord[] {
    const all = this.#partitions.get(partitionKey(topicId, partition))?.byKey.get(key) ?? []
    return all.filter(record => record.offset > offset)
  }

  /** A record of the same key may have followed this one by then, of which nobody was told. */
  isUnsure(topicId: Uuid, partition: number, { key, notBeforeMs }: KnownRecord, atMs: number): boolean {
    const unsure = this.#partitions.get(partitionKey(topicId, partition))?.unsure.get(key) ?? []
    return unsure.some(
      ({ value, invokedMs }) =>
        invokedMs <= atMs && invokedMs + maxUnderWayMs >= notBeforeMs && !this.#seenValues.has(value),
    )
  }

  /** Known tombstones from one offset up to another. */
  tombstones(topicId: Uuid, partition: number, from: number, to: number): KnownRecord[] {
    const known = this.#partitions.get(partitionKey(topicId, partition))?.byOffset
    const found: KnownRecord[] = []
    for (let offset = from; offset < to; offset++) {
      const [record, other] = known?.get(offset) ?? []
      if (record?.isTombstone === true && other === undefined) found.push(record)
    }
    return found
  }

  #add(
    topicId: Uuid,
    partition: number,
    offset: number,
    record: SeenRecord,
    notBeforeMs: number,
    toldAt: number,
  ): void {
    const { key, isTombstone = false } = record
    if (key === undefined || key === null) return
    this.#seenValues.add(record.value)
    const known = this.#of(topicId, partition)
    const atOffset = known.byOffset.get(offset) ?? []
    if (atOffset.some(other => other.value === record.value)) return
    const one = { offset, value: record.value, key, isTombstone, notBeforeMs, toldAt }
    known.byOffset.set(offset, [...atOffset, one])
    const ofKey = known.byKey.get(key)
    if (ofKey === undefined) known.byKey.set(key, [one])
    else ofKey.push(one)
  }

  #idsOf(topic: string): Uuid[] {
    return [...this.#topicOf].flatMap(([id, name]) => (name === topic ? [id] : []))
  }

  #addUnsure(topicId: Uuid, partition: number, key: string, value: string, invokedMs: number): void {
    const { unsure } = this.#of(topicId, partition)
    const ofKey = unsure.get(key)
    if (ofKey === undefined) unsure.set(key, [{ value, invokedMs }])
    else ofKey.push({ value, invokedMs })
  }

  #of(topicId: Uuid, partition: number): KnownPartition {
    const name = partitionKey(topicId, partition)
    const known = this.#partitions.get(name) ?? { byOffset: new Map(), byKey: new Map(), unsure: new Map() }
    this.#partitions.set(name, known)
    return known
  }
}
