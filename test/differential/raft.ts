import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zeroUuid } from '../../src/base/uuid.ts'
import type { RaftRequest } from '../../src/core/raft/messages.ts'
import { loneNode } from '../../src/core/raft/simulation/lone-node.ts'
import { directoryOf } from '../../src/core/raft/simulation/scene.ts'
import { describeQuorumRequest, describeQuorumResponse } from '../../src/protocol/messages/describe-quorum.ts'
import { exitOnSignals } from '../compatibility/child-process.ts'
import { KafkaOracle } from '../compatibility/kafka/kafka-oracle.ts'
import { RawClient } from '../end-to-end/raw-client.ts'
import { callOf, raftQuestions, type Standing, summaryOf } from './raft-questions.ts'

/*
 * The same requests to the leader of a quorum of one: Apache Kafka 4.4, and the core of ours in a scene of its own. What they
 * answer is compared in the codes, the leader, and where logs part. Needs what the compatibility tests need of Kafka.
 *
 *   node test/differential/raft.ts
 */

/** Errors of FetchSnapshot: Kafka 4.4 fails to encode them, and says UNKNOWN_SERVER_ERROR. */
const failsInKafka = (name: string) => name.startsWith('FetchSnapshot')

exitOnSignals()
process.exitCode = (await compareLeaders()) ? 0 : 1

async function compareLeaders(): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-raft-'))
  const kafka = await KafkaOracle.start({ dir })
  try {
    // A second epoch: before the first one there is none that a request could be of.
    await kafka.stop()
    await kafka.restart()
    const differences: string[] = []
    for (const [name, make] of Object.entries(raftQuestions)) {
      const theirs = await kafkasAnswer(kafka, make)
      const ours = ourAnswer(make)
      if (theirs !== ours && !failsInKafka(name)) differences.push(`${name}\n  Kafka    ${theirs}\n  Millrace ${ours}`)
    }
    for (const difference of differences) console.log(difference)
    console.log(`${Object.keys(raftQuestions).length} requests, ${differences.length} answered in another way`)
    return differences.length === 0
  } finally {
    await kafka.stop()
    await rm(dir, { recursive: true, force: true })
  }
}

function ourAnswer(make: (at: Standing) => RaftRequest): string {
  const batches = [
    [0, 9, 1],
    [10, 12, 3],
  ] as const
  const node = loneNode({ batches }, { voters: 1 })
  const { epoch } = node.quorum!
  const { logEndOffset: endOffset } = node.log
  const at = { epoch, endOffset, epochStart: 13, clusterId: 'cluster', directoryId: directoryOf(1) }
  let answer = 'none'
  node.request(make(at), reply => {
    answer = summaryOf(reply, at)
  })
  return answer
}

async function kafkasAnswer(kafka: KafkaOracle, make: (at: Standing) => RaftRequest): Promise<string> {
  const { at, port } = await standingOf(kafka)
  const { api, ...asked } = make(at)
  const call = callOf(api)
  using client = await RawClient.connect({ port })
  const response = await client.call(call, call.request.maxVersion, (asked as { request: object }).request as never)
  return summaryOf({ api, response }, at)
}

/** Where the leader is now, and its controller's port. */
async function standingOf(kafka: KafkaOracle): Promise<{ at: Standing; port: number }> {
  const topics = [{ topicName: '__cluster_metadata', partitions: [{ partitionIndex: 0 }] }]
  using broker = await RawClient.connect({ port: Number(kafka.bootstrap.split(':')[1]) })
  const describe = { request: describeQuorumRequest, response: describeQuorumResponse }
  const quorum = await broker.call(describe, 2, { topics })
  const [{ leaderEpoch: epoch, currentVoters }] = quorum.topics[0].partitions
  const { port } = quorum.nodes[0].listeners[0]
  const [, clusterId] = /^cluster\.id=(.*)$/m.exec(readFileSync(join(kafka.logDirs[0], 'meta.properties'), 'utf8'))!
  const { logEndOffset: endOffset, replicaDirectoryId: directoryId } = currentVoters[0]
  const at = { epoch, endOffset, epochStart: 0, clusterId, directoryId: directoryId ?? zeroUuid }
  return { at: { ...at, epochStart: await epochStartOf(at, port) }, port }
}

async function epochStartOf(at: Standing, port: number): Promise<number> {
  const beyond = raftQuestions['Fetch: an older epoch, past its end']({ ...at, endOffset: at.endOffset + 1000 })
  const call = callOf('fetch')
  using client = await RawClient.connect({ port })
  const answer = await client.call(call, call.request.maxVersion, (beyond as { request: object }).request as never)
  return (answer as { responses: { partitions: { divergingEpoch: { endOffset: number } }[] }[] }).responses[0]
    .partitions[0].divergingEpoch.endOffset
}
