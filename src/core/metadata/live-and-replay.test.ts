import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../protocol/seeded-random.ts'
import { recordBatchCodec } from '../state-machine/record-batch-codec.ts'
import { directory, TestCluster } from './controller/fixtures/test-cluster.ts'
import { MetadataController } from './controller/metadata-controller.ts'
import { MetadataLoader } from './metadata-loader.ts'
import { MetadataStore } from './metadata-store.ts'
import { type KnownRecord, metadataRecords } from './records.ts'
import { bootstrapRecords, snapshotRecords } from './snapshot.ts'

const codec = recordBatchCodec(metadataRecords)
const names = ['a', 'b', 'c.d', 'c_d', '__proto__', '']
const elr: KnownRecord = { type: 'featureLevel', version: 0, name: 'eligible.leader.replicas.version', featureLevel: 1 }

/** What must hold of every partition after every command, and what it was before. */
class PartitionRules {
  readonly #epochs = new Map<string, readonly [number, number]>()
  readonly #brokerEpochs = new Map<number, string>()
  readonly #topicIds = new Map<string, string>()

  check(cluster: TestCluster): void {
    for (const topic of cluster.image.topics()) {
      assert.equal(this.#topicIds.get(topic.id) ?? topic.name, topic.name, 'a topic id is of one topic for ever')
      this.#topicIds.set(topic.id, topic.name)
      for (const partition of topic.partitions) {
        const { replicas, isr, elr: eligible, leader, leaderEpoch, partitionEpoch, directories } = partition
        const [leaderBefore, partitionBefore] = this.#epochs.get(`${topic.id} ${partition.partition}`) ?? [0, 0]
        assert.ok(leaderEpoch >= leaderBefore && partitionEpoch >= partitionBefore, 'epochs only grow')
        this.#epochs.set(`${topic.id} ${partition.partition}`, [leaderEpoch, partitionEpoch])
        assert.ok(
          [...isr, ...eligible].every(broker => replicas.includes(broker)),
          'in sync or eligible are replicas',
        )
        assert.ok(!isr.some(broker => eligible.includes(broker)), 'nobody is both in sync and eligible')
        assert.ok(leader === -1 || isr.includes(leader), 'a leader is in sync')
        const fenced = isr.filter(broker => cluster.image.broker(broker)?.fenced)
        assert.ok(fenced.length === 0 || isr.length === 1, 'out of service and in sync is only the last')
        assert.ok(leader === -1 || !cluster.image.broker(leader)?.fenced, 'a leader is in service')
        assert.equal(directories.length, replicas.length)
      }
    }
    for (const { id, epoch, incarnationId } of cluster.image.brokers()) {
      const life = `${id} ${incarnationId}`
      assert.equal(this.#brokerEpochs.get(epoch) ?? life, life, 'a broker epoch is of one life')
      this.#brokerEpochs.set(epoch, life)
    }
  }
}

/** Random commands, right and wrong. */
function step(cluster: TestCluster, random: ReturnType<typeof seededRandom>): void {
  const broker = 1 + random.below(4)
  const name = names[random.below(names.length)]
  const topics = [...cluster.image.topics()]
  const topic = topics.length > 0 ? topics[random.below(topics.length)] : undefined
  const partition = topic?.partitions[random.below(topic.partitions.length)]
  cluster.nowMs += random.below(3000)
  switch (random.below(13)) {
    case 0:
      cluster.register(broker, {
        ...{ rack: `rack-${broker % 2}`, incarnation: random.below(50), previousEpoch: random.below(30) },
        logDirs: [directory(broker, 0), directory(broker, 1)].slice(0, 1 + (broker % 2)),
      })
      break
    case 1:
    case 2:
    case 3:
      cluster.heartbeat(broker)
      break
    case 4:
      cluster.heartbeat(broker, { wantFence: random.below(2) === 0, wantShutDown: random.below(2) === 0 })
      break
    case 5:
      if ((cluster.controller.nextDeadlineMs() ?? Number.POSITIVE_INFINITY) <= cluster.nowMs)
        cluster.submit({ type: 'timeout' })
      break
    case 6:
    case 7:
      cluster.tryCreate(name, {
        partitions: random.below(4),
        replicas: random.below(4),
        config: random.below(2) === 0 ? {} : { 'min.insync.replicas': String(random.below(3)) },
      })
      break
    case 8: {
      const request = { topics: [], topicNames: [name], timeoutMs: 1 }
      if (random.below(3) === 0) cluster.submit({ type: 'deleteTopics', apiVersion: 5, request })
      break
    }
    case 9: {
      const wanted = { name, count: random.below(6), assignments: null }
      cluster.submit({ type: 'createPartitions', request: { topics: [wanted], timeoutMs: 1, validateOnly: false } })
      break
    }
    case 10: {
      const value = ['1', '2', 'x', 'true'][random.below(4)]
      const key = ['retention.ms', 'cleanup.policy', 'min.insync.replicas', 'unclean.leader.election.enable'][
        random.below(4)
      ]
      const configs = [{ name: key, value, configOperation: random.below(4) }]
      const resources = [{ resourceType: [2, 4, 32][random.below(3)], resourceName: name, configs }]
      cluster.submit({ type: 'incrementalAlterConfigs', request: { resources, validateOnly: false } })
      break
    }
    case 11:
      if (topic && partition) {
        const newIsrWithEpochs = partition.replicas
          .filter(id => id === partition.leader || random.below(2) === 0)
          .map(brokerId => ({ brokerId, brokerEpoch: cluster.image.broker(brokerId)?.epoch ?? -1 }))
        const { leaderEpoch, partitionEpoch } = partition
        const partitions = [
          {
            partitionIndex: partition.partition,
            leaderEpoch,
            partitionEpoch,
            newIsr: [],
            newIsrWithEpochs,
            leaderRecoveryState: 0,
          },
        ]
        const brokerEpoch = cluster.image.broker(partition.leader)?.epoch ?? -1
        const request = { brokerId: partition.leader, brokerEpoch, topics: [{ topicId: topic.id, partitions }] }
        cluster.submit({ type: 'alterPartition', request })
      }
      break
    default:
      cluster.submit({
        type: 'allocateProducerIds',
        request: { brokerId: broker, brokerEpoch: cluster.image.broker(broker)?.epoch ?? -1 },
      })
  }
}

function readSnapshot(into: MetadataLoader, from: MetadataLoader): MetadataLoader {
  into.startSnapshot(from.endOffset)
  for (const record of snapshotRecords(from.image))
    into.replayBatch(codec.encode([record], { monotonicMs: 0, wallMs: 0 }))
  into.finishSnapshot()
  into.publish(() => {})
  return into
}

for (const usesElr of [false, true]) {
  test(`live is replayed is snapshot, ${usesElr ? 'with' : 'without'} eligible replicas, under random commands`, () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = seededRandom(seed)
      const cluster = new TestCluster([], usesElr ? [...bootstrapRecords(), elr] : undefined)
      const rules = new PartitionRules()
      const behind = new MetadataLoader()
      for (let count = 0; count < 250; count++) {
        step(cluster, random)
        rules.check(cluster)
        assert.deepEqual(cluster.loader.inspect(), cluster.controller.inspect().durable, `seed ${seed}, step ${count}`)
        if (count === 100) readSnapshot(behind, cluster.loader)
      }

      const replayed = new MetadataLoader()
      const decided = new MetadataController(cluster.options, { metadata: new MetadataStore(), endOffset: 0 })
      for (const [index, batch] of cluster.batches.entries()) {
        replayed.replayBatch(batch)
        if (index % 7 === 0) replayed.publish(() => {})
        const decoded = codec.decode(batch)
        if (decoded.type === 'data') for (const { offset, record } of decoded.records) decided.apply(record, { offset })
      }
      replayed.publish(() => {})
      const expected = cluster.loader.inspect()
      assert.deepEqual(replayed.inspect(), expected, `replayed, seed ${seed}`)
      assert.deepEqual(decided.inspect().durable, expected, `decided, seed ${seed}`)
      assert.deepEqual(readSnapshot(new MetadataLoader(), cluster.loader).inspect(), expected, `snapshot, seed ${seed}`)
      assert.deepEqual(readSnapshot(behind, cluster.loader).inspect(), expected, `caught up, seed ${seed}`)
    }
  })
}
