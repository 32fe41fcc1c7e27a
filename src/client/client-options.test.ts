import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClientOptions, clientConfig, parseServers } from './client-options.ts'
import { type ConsumerOptions, consumerConfig } from './consumer/consumer-options.ts'
import { type ProducerOptions, producerConfig } from './producer/producer-options.ts'

test('bootstrap servers are a list or a text, of names and addresses', () => {
  assert.deepEqual(parseServers(' a:1, b.c:65535 ,,[::1]:9092'), [
    { host: 'a', port: 1 },
    { host: 'b.c', port: 65535 },
    { host: '::1', port: 9092 },
  ])
  assert.deepEqual(parseServers(['PLAINTEXT://a:1']), [{ host: 'a', port: 1 }])
})

test('what is no server is named', () => {
  for (const text of ['a', 'a:', 'a:0', 'a:65536', '::1:9092', 'a:b', 'http//a:1', 'a:1:2']) {
    assert.throws(() => parseServers(text), {
      code: 'INVALID_ARGUMENT',
      message: new RegExp(`"${text.replaceAll('/', '.')}"`),
    })
  }
  assert.throws(() => parseServers(' , '), /bootstrapServers is empty/)
  assert.throws(() => parseServers([]), /bootstrapServers is empty/)
})

test('an option that nobody knows is refused, with the one that was meant', () => {
  const slips: readonly [() => unknown, string][] = [
    [
      () => clientConfig({ bootstrapServers: 'a:1', clientID: 'x' } as never),
      'there is no option clientID: did you mean clientId?',
    ],
    [() => producerConfig({ ack: 1 } as never), 'there is no option ack: did you mean acks?'],
    [() => consumerConfig({ groupID: 'g' } as never), 'there is no option groupID: did you mean groupId?'],
    [
      () => clientConfig({ bootstrapServer: 'a:1' } as never),
      'there is no option bootstrapServer: did you mean bootstrapServers?',
    ],
    [() => clientConfig({} as never), 'bootstrapServers is missing; give it as host:port'],
  ]
  for (const [call, message] of slips) assert.throws(call, { code: 'INVALID_ARGUMENT', message })
})

test('every option that the types have is known', () => {
  const client: Required<ClientOptions> = {
    ...clientConfig({ bootstrapServers: 'a:1' }),
    bootstrapServers: 'a:1',
  }
  assert.equal(clientConfig(client).clientId, 'millrace')
  const producer: Required<ProducerOptions> = {
    ...{ acks: 'all', idempotent: true, compression: 'none', compressionLevel: 1, lingerMs: 1, batchBytes: 1 },
    ...{ maxRequestBytes: 1, bufferBytes: 1, maxBlockMs: 1, deliveryTimeoutMs: 1, requestTimeoutMs: 1, maxInFlight: 1 },
    createTopics: true,
  }
  assert.equal(producerConfig(producer).acks, -1)
  const consumer: Required<ConsumerOptions> = {
    ...{
      groupId: 'g',
      offsetReset: 'latest',
      isolationLevel: 'readCommitted',
      autoCommit: true,
      autoCommitIntervalMs: 1,
    },
    ...{ maxRecords: 1, fetchMaxWaitMs: 1, fetchMinBytes: 1, fetchMaxBytes: 1, partitionMaxBytes: 1, bufferBytes: 1 },
    ...{ checkCrcs: true, maxUncompressedBytes: 1, groupInstanceId: 'i', assignors: ['range'], sessionTimeoutMs: 2 },
    ...{ heartbeatIntervalMs: 1, maxPollIntervalMs: 1, createTopics: true },
  }
  assert.equal(consumerConfig(consumer).isReadCommitted, true)
})

test('options that are left out or undefined have their defaults, senseless ones are refused', () => {
  const config = clientConfig({ bootstrapServers: 'a:1', clientId: undefined, requestTimeoutMs: 5 })
  assert.deepEqual([config.clientId, config.requestTimeoutMs, config.apiTimeoutMs], ['millrace', 5, 60_000])
  assert.throws(() => clientConfig({ bootstrapServers: 'a:1', retryBackoffMs: -1 }), /retryBackoffMs cannot be -1/)
  assert.throws(() => clientConfig({ bootstrapServers: 'a:1', connectTimeoutMs: Number.NaN }), /connectTimeoutMs/)
  assert.throws(() => clientConfig({ bootstrapServers: 'a:1', apiTimeoutMs: Number.POSITIVE_INFINITY }), {
    code: 'INVALID_ARGUMENT',
    message: 'apiTimeoutMs is at most 2147483647, not Infinity',
  })
  assert.throws(() => producerConfig({ lingerMs: 1e12 }), /lingerMs is at most 2147483647/)
  assert.throws(() => consumerConfig({ fetchMaxWaitMs: 1e12 }), /fetchMaxWaitMs is at most 2147483647/)
})
