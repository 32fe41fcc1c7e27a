import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { randomUuid } from '../base/uuid.ts'
import { loadConfig } from '../config/load-config.ts'
import { apiVersionsRequest, apiVersionsResponse } from '../protocol/messages/api-versions.ts'
import { updateFeaturesRequest, updateFeaturesResponse } from '../protocol/messages/update-features.ts'
import { createStorage } from '../storage/storage.ts'
import { type BrokerHost, onBrokerHost } from './fixture.test.ts'
import { format } from './format.ts'

const apiVersions = { request: apiVersionsRequest, response: apiVersionsResponse }
const updateFeatures = { request: updateFeaturesRequest, response: updateFeaturesResponse }

/** The only voter is the one that the configuration names: kraft.version 0. */
const staticQuorum = {
  overrides: [
    'process.roles=broker,controller',
    'node.id=1',
    'controller.listener.names=CONTROLLER',
    'listeners=PLAINTEXT://broker:9092,CONTROLLER://broker:9093',
    'controller.quorum.voters=1@broker:9093',
  ],
}

/** As `millrace format` does without --standalone. */
async function formatted(host: BrokerHost): Promise<void> {
  const loaded = loadConfig({ overrides: ['log.dirs=/data', ...staticQuorum.overrides], environment: {} })
  assert.ok(loaded.type === 'loaded')
  const io = host.node.start()
  const none = () => {}
  const faults = {
    damaged: none,
    readFailed: none,
    directoryFull: none,
    directoryWritable: none,
    directoryFailed: none,
  }
  await format(io, createStorage({ io, faults }), {
    config: loaded.config,
    clusterId: randomUuid(io.random),
    directories: ['/data'],
    isStandalone: false,
  })
  host.node.crash('power')
}

async function kraftVersion(host: BrokerHost): Promise<number> {
  const { finalizedFeatures } = await host.ask(apiVersions, { clientSoftwareName: 'test', clientSoftwareVersion: '1' })
  return finalizedFeatures.find(({ name }) => name === 'kraft.version')?.maxVersionLevel ?? 0
}

async function update(host: BrokerHost, maxVersionLevel: number, validateOnly = false) {
  const featureUpdates = [{ feature: 'kraft.version', maxVersionLevel, upgradeType: 1 }]
  const { errorCode, errorMessage } = await host.ask(updateFeatures, { timeoutMs: 5000, featureUpdates, validateOnly })
  return { errorCode, errorMessage }
}

test('kraft.version is 0 with static voters, and goes to 1 for good', () =>
  onBrokerHost(staticQuorum, async host => {
    await formatted(host)
    await host.start()
    assert.equal(await kraftVersion(host), 0)
    assert.deepEqual(await update(host, 0), { errorCode: ErrorCode.none, errorMessage: null })
    assert.deepEqual(await update(host, 1, true), { errorCode: ErrorCode.none, errorMessage: null })
    assert.equal(await kraftVersion(host), 0)
    assert.deepEqual(await update(host, 1), { errorCode: ErrorCode.none, errorMessage: null })
    assert.equal(await kraftVersion(host), 1)
    for (const end of ['kill', 'power'] as const) {
      host.crash(end)
      await host.start()
      assert.equal(await kraftVersion(host), 1)
      assert.equal((await update(host, 0)).errorCode, ErrorCode.invalidUpdateVersion)
    }
    await host.createTopic('t')
    assert.equal((await host.produce('t')).errorCode, ErrorCode.none)
  }))
