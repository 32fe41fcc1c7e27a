import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientConfig, parseServers } from './client-options.ts'
import { consumerConfig } from './consumer/consumer-options.ts'
import { producerConfig } from './producer/producer-options.ts'

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
