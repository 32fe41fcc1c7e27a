import type { DriverCommand } from './driver-process.ts'
import { fromGo, fromJava, fromNpm, fromPyPi, inPlace } from './install.ts'
import type { Assignor, Codec } from './job.ts'
import { kafkaJars } from './kafka/kafka-jars.ts'
import { requireTool } from './missing-tool.ts'

export interface Client {
  readonly name: string
  readonly codecs: readonly Codec[]
  /** The codec, besides none, that the sample takes: over all clients each codec comes up. */
  readonly sampleCodec: Codec
  readonly assignors: readonly Assignor[]
  /** It has an admin of its own that makes topics; otherwise the broker makes them at first use. */
  readonly createsTopics: boolean
  /** The client tells when the broker has taken a commit. */
  readonly tellsCommits: boolean
  /** Part of the sample. What is not takes minutes to install or seconds for each step. */
  readonly sampled: boolean
  /** Installs what is missing and says how to run the driver. Throws MissingTool if the machine has not got its toolchain. */
  readonly install: () => Promise<DriverCommand>
}

const ALL: readonly Codec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
const usual = {
  codecs: ALL,
  assignors: ['eager', 'cooperative'],
  createsTopics: true,
  tellsCommits: true,
  sampled: true,
} as const

export const CLIENTS: readonly Client[] = [
  {
    ...usual,
    name: 'kcat',
    sampleCodec: 'zstd',
    createsTopics: false,
    tellsCommits: false,
    install: async () => {
      requireTool('kcat', 'apt-get install kcat')
      return await inPlace('kcat')
    },
  },
  // KafkaJS has no cooperative assignor.
  { ...usual, name: 'kafkajs', sampleCodec: 'snappy', assignors: ['eager'], install: () => fromNpm('kafkajs') },
  { ...usual, name: 'platformatic', sampleCodec: 'lz4', install: () => fromNpm('platformatic') },
  {
    ...usual,
    name: 'confluent-javascript',
    sampleCodec: 'gzip',
    sampled: false,
    install: async () => {
      for (const tool of ['gcc', 'g++', 'make']) requireTool(tool, 'apt-get install build-essential')
      return await fromNpm('confluent-javascript', { CKJS_LINKING: 'dynamic' })
    },
  },
  { ...usual, name: 'java', sampleCodec: 'zstd', install: () => fromJava('java') },
  {
    ...usual,
    name: 'java-tools',
    sampleCodec: 'gzip',
    tellsCommits: false,
    sampled: false,
    install: async () => {
      await kafkaJars()
      return await inPlace('java-tools')
    },
  },
  { ...usual, name: 'franz-go', sampleCodec: 'lz4', install: () => fromGo('franz-go') },
  { ...usual, name: 'kafka-python', sampleCodec: 'snappy', install: () => fromPyPi('kafka-python') },
  // aiokafka has no cooperative assignor.
  { ...usual, name: 'aiokafka', sampleCodec: 'gzip', assignors: ['eager'], install: () => fromPyPi('aiokafka') },
  { ...usual, name: 'confluent-python', sampleCodec: 'gzip', install: () => fromPyPi('confluent-python') },
]
