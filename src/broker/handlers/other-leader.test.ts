import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import { fetchRequest, fetchResponse } from '../../protocol/messages/fetch.ts'
import { produceRequest, produceResponse } from '../../protocol/messages/produce.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { type BrokerHost, onBrokerHost } from '../fixture.test.ts'

const produceApi = { request: produceRequest, response: produceResponse }
const fetchApi = { request: fetchRequest, response: fetchResponse }
const elsewhere = { nodeId: 2, host: 'elsewhere', port: 9092, rack: 'r2' }

/** A topic of two partitions, of which broker 2 leads the second. */
async function withLedElsewhere(host: BrokerHost): Promise<string> {
  await host.start()
  await host.createTopic('topic', 2)
  const { nodeId: brokerId, host: name, port, rack } = elsewhere
  const listeners = [{ name: 'PLAINTEXT', host: name, port, securityProtocol: 0 }]
  const features = [{ name: 'metadata.version', minSupportedVersion: 7, maxSupportedVersion: 33 }]
  const registered = await host.broker.metadata.submit({
    type: 'registerBroker',
    request: {
      ...{
        brokerId,
        clusterId: host.broker.clusterId,
        incarnationId: 'AAECAwQFBgcICQoLDA0ODw',
        listeners,
        features,
        rack,
      },
      ...{ isMigratingZkBroker: false, logDirs: ['AAECAwQFBgcICQoLDA0OEA'], previousBrokerEpoch: -1 },
    },
  })
  assert.ok(registered.type === 'registerBroker' && registered.response.errorCode === ErrorCode.none)
  await host.world.sleep(1000)
  const partition = host.broker.partitions.byName('topic', 1)!
  const { state } = partition
  const newer = { leaderEpoch: state.leaderEpoch + 1, partitionEpoch: state.partitionEpoch + 1 }
  const ids = [host.broker.nodeId, brokerId]
  partition.update({ ...state, ...newer, leaderId: brokerId, replicas: ids, isr: ids })
  return partition.topicId
}

function batch(): Buffer {
  const builder = new BatchBuilder()
  builder.append(1000, null, Buffer.from('value'))
  return Buffer.from(builder.finish({}))
}

test('KIP-951: a producer that asks the wrong broker is told who leads, and where that is', () =>
  onBrokerHost({}, async host => {
    const topicId = await withLedElsewhere(host)
    for (const version of [9, 10, 12, 13]) {
      const named = version >= 13 ? { topicId } : { name: 'topic' }
      const produce = async (indexes: readonly number[]) => {
        const partitionData = indexes.map(index => ({ index, records: batch() }))
        const body = { transactionalId: null, acks: -1, timeoutMs: 5000, topicData: [{ ...named, partitionData }] }
        const { responses, nodeEndpoints } = await host.ask(produceApi, body, version)
        return { nodeEndpoints, answers: responses[0].partitionResponses }
      }
      const { answers, nodeEndpoints } = await produce([0, 1])
      assert.deepEqual(
        answers.map(({ errorCode, currentLeader }) => [errorCode, currentLeader.leaderId, currentLeader.leaderEpoch]),
        [
          [ErrorCode.none, -1, -1],
          version < 10 ? [ErrorCode.notLeaderOrFollower, -1, -1] : [ErrorCode.notLeaderOrFollower, 2, 1],
        ],
      )
      assert.deepEqual(nodeEndpoints, version < 10 ? [] : [elsewhere])
      assert.deepEqual((await produce([0])).nodeEndpoints, [])
    }
    await host.close()
  }))

test('KIP-951: so is a consumer, of the brokers that lead what it asked for', () =>
  onBrokerHost({}, async host => {
    const topicId = await withLedElsewhere(host)
    for (const version of [12, 15, 16, 18]) {
      const named = version >= 13 ? { topicId } : { topic: 'topic' }
      const partitions = [0, 1].map(partition => ({ partition, fetchOffset: 0, partitionMaxBytes: 1000 }))
      const body = { maxWaitMs: 0, minBytes: 0, sessionEpoch: -1, topics: [{ ...named, partitions }] }
      const { responses, nodeEndpoints } = await host.ask(fetchApi, { ...body, forgottenTopicsData: [] }, version)
      assert.deepEqual(
        responses[0].partitions.map(({ errorCode, currentLeader }) => [errorCode, currentLeader.leaderId]),
        [
          [ErrorCode.none, -1],
          [ErrorCode.notLeaderOrFollower, version < 16 ? -1 : 2],
        ],
      )
      assert.deepEqual(nodeEndpoints, version < 16 ? [] : [elsewhere])
    }
    await host.close()
  }))
