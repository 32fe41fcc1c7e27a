import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestCluster } from '../../core/metadata/controller/fixtures/test-cluster.ts'
import type { KnownRecord } from '../../core/metadata/records.ts'
import { ClusterCounts } from './cluster-counts.ts'

function counted(isReplay = false): { cluster: TestCluster; counts: ClusterCounts } {
  const [cluster, counts] = [new TestCluster(), new ClusterCounts()]
  cluster.onDelta = delta => counts.apply(delta, { isReplay })
  return { cluster, counts }
}

/** What a walk through all partitions would give. */
function walked({ image }: TestCluster): number[] {
  const all = [...image.topics()].flatMap(topic => [...topic.partitions])
  return [
    all.filter(({ leader }) => leader < 0).length,
    all.filter(({ leader, replicas }) => leader !== replicas[0]).length,
  ]
}

function elect(cluster: TestCluster, topic: string, leader: number, isr: readonly number[]): KnownRecord {
  const { topicId, partition } = cluster.partition(topic)
  const nothing = { replicas: null, removingReplicas: null, addingReplicas: null, directories: null }
  const elr = { eligibleLeaderReplicas: null, lastKnownElr: null, leaderRecoveryState: -1 }
  return {
    ...{ type: 'partitionChange', version: 2, partitionId: partition, topicId, isr: [...isr], leader },
    ...nothing,
    ...elr,
  } as KnownRecord
}

test('counts follow brokers that go and come, and topics that are deleted', () => {
  const { cluster, counts } = counted()
  const same = (expected: number[]) => {
    assert.deepEqual([counts.offlinePartitions, counts.notLedByPreferred], expected)
    assert.deepEqual(walked(cluster), expected)
  }
  cluster.start(1, 2)
  cluster.create('one', { assignments: [[1], [2]] })
  cluster.create('two', {
    assignments: [
      [1, 2],
      [2, 1],
    ],
  })
  same([0, 0])
  cluster.heartbeat(2, { wantShutDown: true })
  cluster.heartbeat(2, { wantFence: true })
  same([1, 2])
  const { id } = cluster.image.topic('one')!
  const request = { topics: [{ name: null, topicId: id }], topicNames: [], timeoutMs: 1 }
  cluster.submit({ type: 'deleteTopics', apiVersion: 6, request })
  same([0, 1])
  cluster.register(2, { incarnation: 1 })
  cluster.heartbeat(2)
  cluster.create('three', { assignments: [[2]] })
  same([0, 1])
})

test('a leader that was not in sync is counted as often as one was elected, also within one change', () => {
  const { cluster, counts } = counted()
  cluster.start(1, 2, 3)
  cluster.create('t', { assignments: [[1, 2, 3]] })
  // In sync: no matter who.
  cluster.write([elect(cluster, 't', 2, [2])])
  assert.equal(counts.uncleanElections, 0)
  cluster.write([elect(cluster, 't', 3, [3]), elect(cluster, 't', 1, [1])])
  assert.equal(counts.uncleanElections, 2)
  // What has come in sync meanwhile may lead, though nobody saw it between the two.
  cluster.write([elect(cluster, 't', -2, [1, 2]), elect(cluster, 't', 2, [2])])
  assert.equal(counts.uncleanElections, 2)
})

test('what was elected before the broker has started is not counted', () => {
  const { cluster, counts } = counted(true)
  cluster.start(1, 2)
  cluster.create('t', { assignments: [[1, 2]] })
  cluster.write([elect(cluster, 't', 1, [1])])
  cluster.write([elect(cluster, 't', 2, [2])])
  assert.deepEqual([counts.uncleanElections, counts.notLedByPreferred], [0, 1])
})
