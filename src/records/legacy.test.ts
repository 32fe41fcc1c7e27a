import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { batchSpans } from './batch-header.ts'
import { isLegacyCrcValid, readLegacyCodec, readLegacyRecords, readLegacyTimestamp } from './legacy.ts'
import type { Record } from './record.ts'
import { SeededRandom } from './seeded-random.ts'

const maxBytes = 10_000
const sets = readFileSync(new URL('fixtures/kafka-legacy.tsv', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map(line => line.split('\t'))
  .map(([magic, codec, timestampType, text]) => ({
    magic: Number(magic),
    codec,
    timestampType,
    bytes: Buffer.from(text, 'hex'),
  }))

function readSet(bytes: Buffer): Record[] {
  return [...batchSpans(bytes)].flatMap(({ at, sizeBytes }) => {
    assert.equal(isLegacyCrcValid(bytes, at, sizeBytes), true)
    const records = readLegacyRecords(bytes, at, sizeBytes, maxBytes)
    assert.ok(Array.isArray(records))
    return records
  })
}

test("Kafka's message sets of either magic and any codec read as what was written", () => {
  assert.equal(sets.length, 12)
  for (const { magic, codec, timestampType, bytes } of sets) {
    const times = magic === 0 ? [-1n, -1n, -1n] : [1_600_000_000_000n, 1_600_000_000_500n, 1_600_000_000_100n]
    const [one, two, three] = timestampType === 'append' ? Array(3).fill(1_600_000_000_999n) : times
    const records = [
      { offset: 40, timestamp: one, key: Buffer.from('key'), value: Buffer.from('value'), headers: [] },
      { offset: 41, timestamp: two, key: null, value: Buffer.from('no key, no key, no key, no key'), headers: [] },
      { offset: 42, timestamp: three, key: Buffer.from('tombstone'), value: null, headers: [] },
    ]
    assert.deepEqual(readSet(bytes), records, `magic ${magic} ${codec} ${timestampType}`)
  }
})

test('a compressed entry tells its largest timestamp without being unpacked', () => {
  for (const { magic, codec, timestampType, bytes } of sets) {
    if (codec === 'none') continue
    assert.equal(readLegacyCodec(bytes, 0), ['none', 'gzip', 'snappy', 'lz4'].indexOf(codec))
    const expected = magic === 0 ? -1n : timestampType === 'append' ? 1_600_000_000_999n : 1_600_000_000_500n
    assert.equal(readLegacyTimestamp(bytes, 0), expected)
  }
})

test('a flipped bit is found by the CRC', () => {
  for (const { bytes } of sets) {
    const [{ sizeBytes }] = batchSpans(bytes)
    for (let at = 16; at < sizeBytes; at++) {
      const changed = Buffer.from(bytes)
      changed[at] ^= 0x20
      assert.equal(isLegacyCrcValid(changed, 0, sizeBytes), false)
    }
  }
})

test('what unpacks to more than the bound is too large', () => {
  for (const { codec, bytes } of sets) {
    if (codec === 'none') continue
    assert.deepEqual(readLegacyRecords(bytes, 0, bytes.length, 100), { type: 'tooLarge' })
  }
})

test('mutated entries read as something or as corrupt, and never throw', () => {
  const random = new SeededRandom(31)
  for (const { bytes } of sets) {
    for (let round = 0; round < 300; round++) {
      const changed = Buffer.from(bytes)
      for (let flips = 1 + random.below(3); flips > 0; flips--)
        changed[12 + random.below(changed.length - 12)] = random.below(256)
      for (const { at, sizeBytes } of batchSpans(changed)) {
        if (changed[at + 16] > 1) break
        const records = readLegacyRecords(changed, at, sizeBytes, maxBytes)
        assert.ok(Array.isArray(records) || 'type' in records)
      }
    }
  }
})
