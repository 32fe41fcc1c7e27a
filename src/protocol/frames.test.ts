import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zeroUuid } from '../base/uuid.ts'
import { ApiKey, apiOf } from './apis.ts'
import { decode, encodeToBuffer } from './codec.ts'
import {
  decodeApiVersionsResponse,
  decodeRequestHeader,
  decodeResponseHeader,
  encodeRequest,
  encodeResponse,
  peekCorrelationId,
} from './frames.ts'
import { apiVersionsRequest, apiVersionsResponse } from './messages/api-versions.ts'
import { fetchRequest } from './messages/fetch.ts'
import { requestHeader, responseHeader } from './messages/header.ts'
import { metadataRequest, metadataResponse } from './messages/metadata.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import { leaderChangeMessage } from './records/control.ts'
import { Writer } from './writer.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')
const withoutSize = (written: { parts: unknown[] }) => (written.parts[0] as Buffer).subarray(4)

test('requests are Kafka’s to the byte', () => {
  const writer = new Writer()
  const apiVersions = encodeRequest(writer, { apiVersion: 4, correlationId: 7, clientId: 'c1' }, apiVersionsRequest, {
    clientSoftwareName: 'ts-client',
    clientSoftwareVersion: '1.0',
  })
  assert.deepEqual(withoutSize(apiVersions), hex('00120004 00000007 0002 6331 00 0a 74732d636c69656e74 04 312e30 00'))
  const allTopics = encodeRequest(writer, { apiVersion: 1, correlationId: 7, clientId: 'c1' }, metadataRequest, {
    topics: null,
  })
  assert.deepEqual(withoutSize(allTopics), hex('00030001 00000007 0002 6331 ffffffff'))
  const oneTopic = encodeRequest(writer, { apiVersion: 12, correlationId: 7, clientId: 'c1' }, metadataRequest, {
    topics: [{ topicId: zeroUuid, name: 't' }],
  })
  assert.deepEqual(
    withoutSize(oneTopic),
    hex('0003000c 00000007 0002 6331 00 02 00000000000000000000000000000000 02 74 00 01 00 00'),
  )
  assert.equal((oneTopic.parts[0] as Buffer).readInt32BE(), oneTopic.byteLength - 4)
})

test('a fetch of a follower with tags is Kafka’s to the byte', () => {
  const bytes = hex(
    '000001f4 00000001 7fffffff 00 00000000 ffffffff 01 01 01 02 00 04 04636964 01 0d 00000002 0000000000000005 00',
  )
  const request = decode(fetchRequest, 17, bytes)
  assert.equal(request.clusterId, 'cid')
  assert.deepEqual(request.replicaState, { replicaId: 2, replicaEpoch: 5 })
  assert.deepEqual([request.maxWaitMs, request.minBytes, request.sessionEpoch], [500, 1, -1])
  assert.deepEqual(encodeToBuffer(fetchRequest, 17, request), bytes)
})

test('a leader change is Kafka’s to the byte', () => {
  const leader = { voterId: 1 }
  const value = { version: 0, leaderId: 1, voters: [leader], grantingVoters: [leader] }
  const bytes = hex('0000 00000001 02 00000001 00 02 00000001 00 00')
  assert.deepEqual(encodeToBuffer(leaderChangeMessage, 0, value), bytes)
})

test('request headers are read in both versions, and a null client id is empty', () => {
  const old = new Reader(hex('0003 0001 00000007 ffff ffffffff'))
  assert.deepEqual(decodeRequestHeader(old), { apiKey: 3, apiVersion: 1, correlationId: 7, clientId: '' })
  assert.equal(old.left, 4, 'the body follows')
  const flexible = new Reader(hex('0003 000c 00000007 0002 6331 01 63 02 aabb 00'))
  assert.deepEqual(decodeRequestHeader(flexible), { apiKey: 3, apiVersion: 12, correlationId: 7, clientId: 'c1' })
  assert.equal(flexible.left, 1, 'unknown tags of the header are skipped')
})

test('the header of every API is what the header schema says', () => {
  for (const [apiVersion, headerVersion] of [
    [8, 1],
    [12, 2],
  ]) {
    const header = { requestApiKey: 3, requestApiVersion: apiVersion, correlationId: 9, clientId: 'é' }
    const bytes = encodeToBuffer(requestHeader, headerVersion, header)
    const reader = new Reader(bytes)
    assert.deepEqual(decodeRequestHeader(reader), { apiKey: 3, apiVersion, correlationId: 9, clientId: 'é' })
    assert.equal(reader.left, 0)
    const answer = encodeToBuffer(responseHeader, headerVersion - 1, { correlationId: 9 })
    const answerReader = new Reader(answer)
    assert.equal(decodeResponseHeader(answerReader, 3, apiVersion), 9)
    assert.equal(answerReader.left, 0)
    const written = encodeResponse(new Writer(), { apiVersion, correlationId: 9 }, metadataResponse, {
      brokers: [],
      topics: [],
    })
    assert.deepEqual(withoutSize(written).subarray(0, answer.length), answer)
    assert.equal(peekCorrelationId(withoutSize(written)), 9)
  }
})

test('a key or version that is not served ends the connection', () => {
  const wrong = ['0004 0000', '0007 0003', '005f 0000', 'ffff 0000', '0001 0003', '0001 0013', '0001 ffff', '0000 0002']
  for (const start of wrong) {
    assert.throws(() => decodeRequestHeader(new Reader(hex(`${start} 00000001 0000 00`))), ProtocolError, start)
  }
  const fewer = (apiKey: number) => (apiKey === ApiKey.fetch ? { minVersion: 4, maxVersion: 11 } : undefined)
  assert.equal(decodeRequestHeader(new Reader(hex('0001 000b 00000001 0000')), fewer).apiVersion, 11)
  assert.throws(() => decodeRequestHeader(new Reader(hex('0001 000c 00000001 0000 00')), fewer), ProtocolError)
  const metadata = () => decodeRequestHeader(new Reader(hex('0003 0000 00000001 0000')), fewer)
  assert.throws(metadata, { name: 'ProtocolError', message: /API key 3 \(Metadata\) is not served/ })
})

test('ApiVersions of any version gets through, to be answered in version 0', () => {
  const header = decodeRequestHeader(new Reader(hex('0012 0063 00000007 0002 6331 00 ffffffffffff')))
  assert.deepEqual(header, { apiKey: ApiKey.apiVersions, apiVersion: 99, correlationId: 7, clientId: 'c1' })
  const negative = decodeRequestHeader(new Reader(hex('0012 ffff 00000007 0002 6331')))
  assert.equal(negative.apiVersion, -1)
  const apiKeys = [{ apiKey: 18, minVersion: 0, maxVersion: 5 }]
  const answer = encodeResponse(new Writer(), { apiVersion: 0, correlationId: 7 }, apiVersionsResponse, {
    errorCode: 35,
    apiKeys,
  })
  assert.deepEqual(withoutSize(answer), hex('00000007 0023 00000001 0012 0000 0005'))
  for (const requested of [0, 3, 4, 5]) {
    const reader = new Reader(withoutSize(answer))
    assert.equal(decodeResponseHeader(reader, ApiKey.apiVersions, requested), 7)
    const response = decodeApiVersionsResponse(reader, requested)
    assert.deepEqual([response.errorCode, response.apiKeys], [35, apiKeys])
  }
})

test('an ApiVersions answer in a flexible version has the old header', () => {
  const answer = encodeResponse(new Writer(), { apiVersion: 4, correlationId: 7 }, apiVersionsResponse, {
    errorCode: 0,
    apiKeys: [],
    throttleTimeMs: 0,
  })
  assert.deepEqual(withoutSize(answer), hex('00000007 0000 01 00000000 00'))
  const reader = new Reader(withoutSize(answer))
  decodeResponseHeader(reader, ApiKey.apiVersions, 4)
  assert.equal(decodeApiVersionsResponse(reader, 4).errorCode, 0)
})

test('a header that is cut off is refused', () => {
  const whole = hex('0003 000c 00000007 0002 6331 01 63 02 aabb')
  for (let length = 0; length < whole.length; length++) {
    assert.throws(() => decodeRequestHeader(new Reader(whole.subarray(0, length))), ProtocolError)
  }
  assert.equal(apiOf(3)?.flexibleFrom, 9)
  assert.throws(() => decodeResponseHeader(new Reader(hex('000000')), 3, 0), ProtocolError)
  assert.equal(peekCorrelationId(hex('0000')), undefined)
})
