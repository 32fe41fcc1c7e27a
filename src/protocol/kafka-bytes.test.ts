import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { apiMessages } from './all-messages.ts'
import { decode, encodeToBuffer } from './codec.ts'
import { decodeControlRecord, encodeControlRecord } from './control-record.ts'
import { decodeResponseHeader } from './frames.ts'
import { groupRecords } from './group-record.ts'
import { decodeMetadataRecord, encodeMetadataRecord } from './metadata-record.ts'
import { Reader } from './reader.ts'
import { shareRecords } from './share-record.ts'
import { transactionRecords } from './transaction-record.ts'

/** Rows of tab-separated columns; lines that begin with # are comments. */
function rowsOf(name: string): string[][] {
  return readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.split('\t'))
}

test('Kafka’s own answers are read to their end and written the same, byte for byte', () => {
  const apis = new Set<string>()
  for (const [key, versionText, hex] of rowsOf('kafka-responses.tsv')) {
    const { response } = apiMessages.find(api => api.request.key === Number(key))!
    const version = Number(versionText)
    const where = `${response.name} v${version}`
    const frame = Buffer.from(hex, 'hex')
    const reader = new Reader(frame)
    assert.equal(decodeResponseHeader(reader, Number(key), version), 5, where)
    const body = frame.subarray(reader.position)
    const value = decode(response, version, reader)
    assert.equal(reader.left, 0, where)
    assert.equal(encodeToBuffer(response, version, value as never).toString('hex'), body.toString('hex'), where)
    apis.add(key)
  }
  assert.ok(apis.size >= 70)
})

test('records from Kafka’s own logs are read and written the same, byte for byte', () => {
  const coordinators: Record<string, typeof groupRecords | typeof transactionRecords | typeof shareRecords> = {
    __consumer_offsets: groupRecords,
    __transaction_state: transactionRecords,
    __share_group_state: shareRecords,
  }
  for (const [log, keyHex, valueHex] of rowsOf('kafka-records.tsv')) {
    const key = Buffer.from(keyHex, 'hex')
    const value = valueHex === '-' ? null : Buffer.from(valueHex, 'hex')
    const written = rewrite(log, key, value)
    assert.equal(written?.toString('hex') ?? '-', valueHex, `${log} ${keyHex}`)
  }

  function rewrite(log: string, key: Buffer, value: Buffer | null): Buffer | null {
    if (log === '__cluster_metadata') {
      const record = decodeMetadataRecord(value!)
      assert.ok(record.type !== 'unknown')
      return encodeMetadataRecord(record, value![2])
    }
    if (log === 'control') {
      const record = decodeControlRecord(key, value!)
      assert.ok(record.type !== 'unknown')
      const again = encodeControlRecord(record)
      assert.deepEqual(again.key, key)
      return again.value
    }
    const codec = coordinators[log]
    const record = codec.decode(key, value)
    assert.ok(record.type !== 'unknown')
    const again = codec.encode(record as never, value?.readInt16BE() ?? 0)
    assert.deepEqual(again.key, key)
    return again.value
  }
})
