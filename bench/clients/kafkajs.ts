import { createRequire } from 'node:module'
import type { MeasuredClient, PlainRecord } from './measured-client.ts'

/** What is used of it here: its types are not installed with this checkout. */
interface KafkaJs {
  readonly logLevel: { readonly ERROR: number }
  readonly Partitioners: { readonly DefaultPartitioner: unknown }
  readonly Kafka: new (
    options: object,
  ) => {
    producer(options: object): {
      connect(): Promise<void>
      send(request: { topic: string; acks: number; messages: readonly PlainRecord[] }): Promise<unknown>
      disconnect(): Promise<void>
    }
    consumer(options: object): {
      connect(): Promise<void>
      subscribe(options: object): Promise<void>
      run(options: {
        autoCommit: boolean
        eachBatch(given: { batch: { messages: readonly { readonly value: Buffer }[] } }): Promise<void>
      }): Promise<void>
      disconnect(): Promise<void>
    }
  }
}

export async function connect(bootstrap: string, packages: string): Promise<MeasuredClient> {
  const { Kafka, logLevel, Partitioners } = createRequire(`${packages}/package.json`)('kafkajs') as KafkaJs
  const kafka = new Kafka({ brokers: bootstrap.split(','), logLevel: logLevel.ERROR, clientId: 'bench' })
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  return {
    send: async (topic, messages) => {
      await producer.send({ topic, acks: -1, messages })
    },
    consume: async (topic, seen) => {
      const consumer = kafka.consumer({ groupId: `bench-${process.pid}` })
      await consumer.connect()
      await consumer.subscribe({ topics: [topic], fromBeginning: true })
      const enough = Promise.withResolvers<void>()
      await consumer.run({
        autoCommit: false,
        eachBatch: async ({ batch: { messages } }) => {
          for (const { value } of messages) if (seen(value)) enough.resolve()
        },
      })
      await enough.promise
      await consumer.disconnect()
    },
    close: () => producer.disconnect(),
  }
}
