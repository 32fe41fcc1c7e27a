import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import type { DiskErrorCode } from '../../io/disk.ts'
import { deleteRecordsRequest, deleteRecordsResponse } from '../../protocol/messages/delete-records.ts'
import type { DiskOperation } from '../../simulator/io/disk-faults.ts'
import { type BrokerHost, onBrokerHost } from '../fixture.test.ts'

const deleteRecordsApi = { request: deleteRecordsRequest, response: deleteRecordsResponse }

/** Three topics of two records each. `topic` lies in /more, which is not the directory of the metadata. */
async function fill(host: BrokerHost): Promise<void> {
  await host.start()
  await host.createTopic('first')
  await host.createTopic('topic', 1)
  await host.createTopic('other', 1)
  for (const topic of ['first', 'topic', 'other']) {
    for (let count = 0; count < 2; count++) assert.equal((await host.produce(topic)).errorCode, ErrorCode.none)
  }
}

async function deleteRecords(host: BrokerHost, topics: readonly string[]) {
  const answer = await host.ask(deleteRecordsApi, {
    topics: topics.map(name => ({ name, partitions: [{ partitionIndex: 0, offset: 1 }] })),
    timeoutMs: 5000,
  })
  return answer.topics.map(topic => [topic.name, topic.partitions[0].errorCode, topic.partitions[0].lowWatermark])
}

describe('deleting records on a disk that refuses', () => {
  const faults: [DiskOperation, DiskErrorCode, string][] = [
    ['sync', 'io', '00000000000000000000.log'],
    ['sync', 'io', 'log-start-offset-checkpoint.tmp'],
    ['write', 'noSpace', 'log-start-offset-checkpoint.tmp'],
    ['rename', 'io', 'log-start-offset-checkpoint.tmp'],
  ]
  for (const [operation, code, file] of faults) {
    test(`(${operation} ${file}: ${code}) is answered for each partition, and the connection goes on`, () =>
      onBrokerHost({ logDirs: ['/data', '/more'] }, async host => {
        await fill(host)
        const path = file.endsWith('.log') ? `/more/topic-0/${file}` : `/more/${file}`
        host.node.disk.faults.failNext(operation, code, { pathEnd: path })
        assert.deepEqual(await deleteRecords(host, ['topic', 'first']), [
          ['topic', ErrorCode.kafkaStorageError, -1],
          ['first', ErrorCode.none, 1],
        ])
        assert.equal((await host.produce('first')).errorCode, ErrorCode.none)
        await host.close()
      }))
  }

  test('for want of room is done when there is room again', () =>
    onBrokerHost({ logDirs: ['/data', '/more'] }, async host => {
      await fill(host)
      host.node.disk.faults.failNext('write', 'noSpace', { pathEnd: '/more/log-start-offset-checkpoint.tmp' })
      await deleteRecords(host, ['topic'])
      await host.world.sleep(2000)
      assert.deepEqual(await deleteRecords(host, ['topic']), [['topic', ErrorCode.none, 1]])
      assert.equal((await host.fetch('topic')).errorCode, ErrorCode.offsetOutOfRange)
      await host.close()
    }))
})
