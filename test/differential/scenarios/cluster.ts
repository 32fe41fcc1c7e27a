import { api } from '../../end-to-end/api.ts'
import { range, type Scenarios } from './scenario.ts'

const software = { clientSoftwareName: 'raw', clientSoftwareVersion: '1.0' }

export const clusterScenarios: Scenarios = {
  'ApiVersions: what clients may say': async side => {
    for (const version of range(3, 5)) {
      for (const name of ['', '-a', 'a-', 'a b', 'a_b', 'a', 'a.b-c1', 'ü']) {
        const answer = await side.client.call(api.apiVersions, version, { ...software, clientSoftwareName: name })
        side.tell(`v${version}: name ${name}`, { errorCode: answer.errorCode, hasKeys: answer.apiKeys.length > 0 })
        const other = await side.client.call(api.apiVersions, version, { ...software, clientSoftwareVersion: name })
        side.tell(`v${version}: version ${name}`, { errorCode: other.errorCode, hasKeys: other.apiKeys.length > 0 })
      }
    }
    const { clusterId } = await side.client.call(api.metadata, 12, { topics: [] })
    for (const [cluster, nodeId] of [
      [null, -1],
      [clusterId, 1],
      [clusterId, 2],
      [clusterId, -1],
      [null, 1],
      ['another', 1],
      ['', -1],
    ] as const) {
      const answer = await side.client.call(api.apiVersions, 5, { ...software, clusterId: cluster, nodeId })
      side.tell(`v5: cluster ${cluster === clusterId ? 'ours' : cluster}, node ${nodeId}`, {
        errorCode: answer.errorCode,
        hasKeys: answer.apiKeys.length > 0,
      })
    }
  },
  'FindCoordinator: kinds and keys': async side => {
    for (const version of range(0, 6)) {
      const ask = (label: string, keys: readonly string[], keyType = 0) =>
        side.ask(`v${version}: ${label}`, api.findCoordinator, version, {
          ...(version >= 1 ? { keyType } : {}),
          ...(version >= 4 ? { coordinatorKeys: keys } : { key: keys[0] }),
        })
      await ask('a group', [side.named('g')])
      await ask('an empty group', [''])
      if (version >= 4) await ask('none', [])
      if (version >= 4) await ask('several', [side.named('a'), side.named('b'), side.named('a')])
      if (version >= 1) await ask('unknown kind', ['x'], 7)
      if (version >= 1) await ask('negative kind', ['x'], -1)
    }
  },
  'DescribeCluster: endpoints and operations': async side => {
    for (const version of range(0, 2)) {
      for (const includeClusterAuthorizedOperations of [false, true]) {
        for (const endpointType of version >= 1 ? [0, 1, 2, 3, -1] : [1]) {
          await side.ask(
            `v${version}: endpoint ${endpointType}, ${includeClusterAuthorizedOperations}`,
            api.describeCluster,
            version,
            {
              includeClusterAuthorizedOperations,
              ...(version >= 1 ? { endpointType } : {}),
              ...(version >= 2 ? { includeFencedBrokers: true } : {}),
            },
          )
        }
      }
    }
  },
  'InitProducerId: without a transaction': async side => {
    for (const version of range(0, 5)) {
      const ask = (label: string, more: object = {}) =>
        side.ask(`v${version}: ${label}`, api.initProducerId, version, {
          transactionalId: null,
          transactionTimeoutMs: 1000,
          ...more,
        })
      await ask('new')
      await ask('no time', { transactionTimeoutMs: 0 })
      await ask('negative time', { transactionTimeoutMs: -1 })
      await ask('an empty id', { transactionalId: '' })
      if (version < 3) continue
      await ask('with an id', { producerId: 5, producerEpoch: 3 })
      await ask('with an id and no epoch', { producerId: 5 })
      await ask('with an epoch and no id', { producerEpoch: 3 })
    }
  },
  'UpdateFeatures: levels and kinds': async side => {
    for (const version of range(0, 2)) {
      const ask = (label: string, feature: string, maxVersionLevel: number, more: object = {}) =>
        side.ask(`v${version}: ${label}`, api.updateFeatures, version, {
          featureUpdates: [{ feature, maxVersionLevel, ...more }],
          ...(version >= 1 ? { validateOnly: true } : {}),
        })
      await ask('as it is', 'metadata.version', 33)
      await ask('unknown', 'no.such.feature', 1)
      if (version === 0) continue
      await ask('higher', 'metadata.version', 99)
      await ask('lower as an upgrade', 'metadata.version', 20)
      await ask('unknown kind', 'metadata.version', 33, { upgradeType: 9 })
      await ask('zero', 'metadata.version', 0)
      await ask('negative', 'metadata.version', -1)
      await ask('group.version too high', 'group.version', 9)
    }
    await side.ask('none', api.updateFeatures, 1, { featureUpdates: [], validateOnly: true })
  },
}
