import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { ApiKey } from '../protocol/apis.ts'
import type { ApiVersion, ApiVersionsResponse } from '../protocol/messages/api-versions.ts'
import { highestCommonVersion, Negotiation } from './negotiation.ts'

function answer(errorCode: ErrorCode, apiKeys: readonly ApiVersion[]): ApiVersionsResponse {
  return {
    errorCode,
    apiKeys,
    throttleTimeMs: 0,
    supportedFeatures: [],
    finalizedFeaturesEpoch: -1,
    finalizedFeatures: [],
    zkMigrationReady: false,
  }
}

test('the newest version is asked first, and its answer is the agreement', () => {
  const negotiation = new Negotiation()
  assert.deepEqual(negotiation.start(), { type: 'ask', version: 5 })
  const step = negotiation.answered(answer(ErrorCode.none, [{ apiKey: 3, minVersion: 0, maxVersion: 9 }]))
  assert.equal(step.type, 'agreed')
  assert.deepEqual(step.type === 'agreed' && [...step.ranges], [[3, { minVersion: 0, maxVersion: 9 }]])
})

test('a broker that names its range is asked in its newest version, one that names none in version 0', () => {
  const range = { apiKey: ApiKey.apiVersions, minVersion: 0, maxVersion: 3 }
  const named = new Negotiation().answered(answer(ErrorCode.unsupportedVersion, [range]))
  assert.deepEqual(named, { type: 'ask', version: 3 })
  const bare = new Negotiation().answered(answer(ErrorCode.unsupportedVersion, []))
  assert.deepEqual(bare, { type: 'ask', version: 0 })
})

test('a broker that refuses the version it offered is given up', () => {
  const negotiation = new Negotiation()
  const range = { apiKey: ApiKey.apiVersions, minVersion: 0, maxVersion: 5 }
  assert.equal(negotiation.answered(answer(ErrorCode.unsupportedVersion, [range])).type, 'failed')
  assert.equal(negotiation.answered(answer(ErrorCode.clusterAuthorizationFailed, [])).type, 'failed')
})

test('a broker that is another one than the client thinks says so', () => {
  assert.deepEqual(new Negotiation().answered(answer(ErrorCode.rebootstrapRequired, [])), { type: 'wrongNode' })
})

test('a broker that closes is asked in older versions, on new connections, until there is none', () => {
  const negotiation = new Negotiation()
  assert.deepEqual(negotiation.closed(), { type: 'reconnect', version: 3 })
  assert.deepEqual(negotiation.closed(), { type: 'reconnect', version: 0 })
  assert.equal(negotiation.closed().type, 'failed')
})

test('the version of a request is the highest that both ends and the caller allow', () => {
  const ranges = new Map([[ApiKey.metadata, { minVersion: 4, maxVersion: 9 }]])
  assert.equal(highestCommonVersion(ranges, ApiKey.metadata), 9)
  assert.equal(highestCommonVersion(ranges, ApiKey.metadata, 7), 7)
  assert.equal(highestCommonVersion(ranges, ApiKey.metadata, 3), undefined)
  assert.equal(highestCommonVersion(ranges, ApiKey.fetch), undefined)
  const newer = new Map([[ApiKey.initProducerId, { minVersion: 0, maxVersion: 99 }]])
  assert.equal(highestCommonVersion(newer, ApiKey.initProducerId), 5, 'version 6 is not stable')
  const tooNew = new Map([[ApiKey.metadata, { minVersion: 50, maxVersion: 60 }]])
  assert.equal(highestCommonVersion(tooNew, ApiKey.metadata), undefined)
})
