import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { createTopicsRequest, createTopicsResponse } from '../protocol/messages/create-topics.ts'
import {
  incrementalAlterConfigsRequest,
  incrementalAlterConfigsResponse,
} from '../protocol/messages/incremental-alter-configs.ts'
import { type BrokerHost, onBrokerHost } from './fixture.test.ts'

const createTopicsApi = { request: createTopicsRequest, response: createTopicsResponse }
const alterConfigsApi = { request: incrementalAlterConfigsRequest, response: incrementalAlterConfigsResponse }

async function create(host: BrokerHost, name: string, numPartitions: number): Promise<number> {
  const topic = { name, numPartitions, replicationFactor: 1, assignments: [], configs: [] }
  const { topics } = await host.ask(createTopicsApi, { topics: [topic], timeoutMs: 5000, validateOnly: false })
  return topics[0].errorCode
}

async function setConfig(host: BrokerHost, resourceName: string, name: string, value: string): Promise<number> {
  const configs = [{ name, configOperation: 0, value }]
  const { responses } = await host.ask(alterConfigsApi, {
    resources: [{ resourceType: 2, resourceName, configs }],
    validateOnly: false,
  })
  return responses[0].errorCode
}

const reserveBytes = 1024 * 1024

/** A broker whose disk other programs have filled to the last byte; one record was refused. */
async function fillUp(host: BrokerHost): Promise<void> {
  await host.start({ reserveBytes })
  await host.createTopic('large')
  await host.createTopic('other')
  assert.equal((await host.produce('large')).errorCode, ErrorCode.none)
  host.node.disk.faults.freeBytes = 0
  assert.equal((await host.produce('large')).errorCode, ErrorCode.kafkaStorageError)
}

/** Deletes a topic; when other programs make room as well, what is left takes records again. */
async function emptyIt(host: BrokerHost): Promise<void> {
  await host.deleteTopic('large')
  host.node.disk.faults.freeBytes = 64 * reserveBytes
  await host.world.sleep(20_000)
  assert.equal((await host.produce('other')).errorCode, ErrorCode.none)
}

describe('on a full disk', () => {
  test('a topic can be deleted, and its room taken by others', () =>
    onBrokerHost({ overrides: ['log.segment.delete.delay.ms=1000'] }, async host => {
      await fillUp(host)
      await host.deleteTopic('large')
      assert.equal((await host.produce('other')).errorCode, ErrorCode.kafkaStorageError)
      host.node.disk.faults.freeBytes += 8 * reserveBytes
      await host.world.sleep(20_000)
      assert.equal((await host.produce('other')).errorCode, ErrorCode.none)
      await host.close()
    }))

  test('settings of topics can be changed', () =>
    onBrokerHost({}, async host => {
      await fillUp(host)
      assert.equal(await setConfig(host, 'large', 'retention.ms', '1000'), ErrorCode.none)
      await host.close()
    }))

  test('nothing new is made with what is set aside', () =>
    onBrokerHost({}, async host => {
      await fillUp(host)
      await host.deleteTopic('large')
      assert.equal(await create(host, 'more', 1), ErrorCode.kafkaStorageError)
      await host.close()
    }))

  test('what was set aside is set aside again, for the next time', () =>
    onBrokerHost({}, async host => {
      await fillUp(host)
      await emptyIt(host)
      host.node.disk.faults.freeBytes = 0
      assert.equal((await host.produce('other')).errorCode, ErrorCode.kafkaStorageError)
      await host.deleteTopic('other')
      await host.close()
    }))

  test('records of the metadata that do not fit are refused, and the broker goes on', () =>
    onBrokerHost({}, async host => {
      await host.start()
      await host.createTopic('first')
      host.node.disk.faults.freeBytes = 3000
      assert.equal(await create(host, 'wide', 300), ErrorCode.kafkaStorageError)
      await host.world.sleep(1000)
      assert.equal(host.failure, undefined)
      host.node.disk.faults.freeBytes = 2 ** 30
      await host.world.sleep(2000)
      assert.equal(await create(host, 'wide', 300), ErrorCode.none)
      await host.close()
    }))

  test('a broker starts again with what was set aside, and a topic can be deleted', () =>
    onBrokerHost({}, async host => {
      await fillUp(host)
      host.crash('kill')
      await host.start({ reserveBytes })
      await emptyIt(host)
      await host.close()
    }))

  test('a broker starts with what is left of it however often it is killed or stopped there', () =>
    onBrokerHost({}, async host => {
      await fillUp(host)
      host.crash('kill')
      for (let life = 0; life < 6; life++) {
        await host.start({ reserveBytes })
        assert.equal((await host.produce('large')).errorCode, ErrorCode.kafkaStorageError)
        if (life % 2 === 1) await host.close()
        else host.crash('kill')
      }
      await host.start({ reserveBytes })
      await emptyIt(host)
      await host.close()
    }))

  test('without anything set aside a start says that the disk is full', () =>
    onBrokerHost({}, async host => {
      await host.start()
      await host.createTopic('first')
      await host.close()
      host.node.disk.faults.freeBytes = 0
      await assert.rejects(host.start(), /^StartError: the disk of \/data is full: make room there/)
      host.crash('kill')
    }))
})
