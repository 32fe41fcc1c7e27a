import { zeroUuid } from '../../src/base/uuid.ts'
import { batchSpans, decodeBatchHeader } from '../../src/records/batch-header.ts'
import { openBatch } from '../../src/records/open-batch.ts'
import { RecordReader } from '../../src/records/record.ts'

/** A plain value that can be compared and printed. */
export type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain }

/** What one broker calls by names of its own. */
export interface Names {
  readonly prefix: string
  readonly clusterId: string
  readonly host: string
  readonly port: number
  /** Compare texts for people too. */
  readonly wording: boolean
}

const memberId = /-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** Wording is each broker's own; whether there is any is not. */
const texts = new Set(['errorMessage', 'batchIndexErrorMessage', 'documentation'])
/** Times of the broker's clock, as far as they are close to now. */
const times = new Set(['logAppendTimeMs', 'timestamp', 'maxTimestamp', 'baseTimestamp'])
const unordered = new Set(['configs', 'groups', 'supportedFeatures', 'finalizedFeatures'])
const dayMs = 86_400_000

/**
 * Makes the answers of two brokers comparable: what each may choose freely (ids, ports, times, wording) becomes a word that
 * says only whether it is the same as before.
 */
export class Normalizer {
  readonly #names: Names
  readonly #known = new Map<string, string>()

  constructor(names: Names) {
    this.#names = names
  }

  plain(value: unknown, key = ''): Plain {
    if (value === null || value === undefined) return null
    if (Buffer.isBuffer(value)) return key === 'records' ? this.#batches(value) : this.#bytes(value)
    if (Array.isArray(value)) return this.#list(value, key)
    switch (typeof value) {
      case 'object':
        return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, this.plain(field, name)]))
      case 'string':
        return this.#text(value, key)
      case 'bigint':
      case 'number':
        return this.#number(value, key)
      case 'boolean':
        return value
      default:
        return String(value)
    }
  }

  #list(values: readonly unknown[], key: string): Plain {
    // Others may have used the broker before.
    const own = key === 'groups' ? values.filter(value => this.#isOwn(value)) : values
    const list = own.map(value => this.plain(value, key))
    // Kafka keeps these in hash tables.
    const haveAll = (field: string) => values.every(value => field in (value as object))
    const isUnordered =
      unordered.has(key) ||
      (key === 'responses' && haveAll('errorCode')) ||
      (key === 'topics' && haveAll('isInternal')) ||
      (key === 'results' && haveAll('groupId')) ||
      (key === 'members' && (haveAll('metadata') || haveAll('memberMetadata')))
    return isUnordered ? list.toSorted(byText) : list
  }

  #isOwn(group: unknown): boolean {
    const { groupId } = group as { groupId?: string }
    return groupId === undefined || groupId.startsWith(this.#names.prefix)
  }

  #text(value: string, key: string): Plain {
    const { prefix, clusterId, host } = this.#names
    if (texts.has(key) && !this.#names.wording) return value === '' ? '' : 'TEXT'
    if (key === 'topicId') return value === zeroUuid ? 'ZERO' : this.#name('topic', value)
    if (value !== '' && value === clusterId) return 'CLUSTER'
    if (key === 'host' && value === host) return 'HOST'
    if (memberId.test(value)) return this.#name('member', value)
    return value.replaceAll(prefix, '')
  }

  #number(value: number | bigint, key: string): Plain {
    const number = Number(value)
    if (key === 'port' && number === this.#names.port) return 'PORT'
    if (key === 'producerId' && number >= 0) return this.#name('producer', String(value))
    if (key === 'sessionId' && number !== 0) return this.#name('session', String(value))
    if (key === 'finalizedFeaturesEpoch' && number >= 0) return 'EPOCH'
    if (times.has(key) && Math.abs(number - Date.now()) < dayMs) return 'NOW'
    return typeof value === 'bigint' || !Number.isFinite(value) ? String(value) : value
  }

  #bytes(value: Buffer): Plain {
    return value.toString('latin1').replaceAll(this.#names.prefix, '')
  }

  #batches(value: Buffer): Plain {
    const batches: Plain[] = []
    let end = 0
    for (const { at, sizeBytes } of batchSpans(value)) {
      const {
        deleteHorizon,
        crc,
        sizeBytes: _,
        ...header
      } = decodeBatchHeader(value, at) as unknown as Record<string, unknown>
      const reader = openBatch(value, at, 1 << 28)
      const records: Plain[] = []
      if (reader instanceof RecordReader) {
        for (let record = reader.next(); record !== undefined; record = reader.next()) {
          records.push(this.plain({ ...record, headers: record.headers.map(one => ({ ...one })) }))
        }
      }
      batches.push({ ...(this.plain(header) as object), size: sizeBytes, records })
      end = at + sizeBytes
    }
    return { batches, rest: value.length - end }
  }

  #name(kind: string, value: string): string {
    const key = `${kind}:${value}`
    let name = this.#known.get(key)
    if (name === undefined) {
      const count = [...this.#known.keys()].filter(one => one.startsWith(`${kind}:`)).length
      name = `${kind.toUpperCase()}-${count + 1}`
      this.#known.set(key, name)
    }
    return name
  }
}

function byText(one: Plain, other: Plain): number {
  return JSON.stringify(one).localeCompare(JSON.stringify(other))
}
