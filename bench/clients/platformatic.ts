import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { MeasuredClient, PlainRecord } from './measured-client.ts'

/** What is used of it here: its types are not installed with this checkout. */
interface Platformatic {
  readonly Producer: new (
    options: object,
  ) => {
    send(request: { readonly messages: readonly (PlainRecord & { readonly topic: string })[] }): Promise<unknown>
    close(): Promise<void>
  }
  readonly Consumer: new (
    options: object,
  ) => {
    consume(options: object): Promise<AsyncIterable<{ readonly value: Buffer }> & NodeJS.EventEmitter>
    close(force: boolean): Promise<void>
  }
}

export async function connect(bootstrap: string, packages: string): Promise<MeasuredClient> {
  const { Producer, Consumer } = createRequire(`${packages}/package.json`)('@platformatic/kafka') as Platformatic
  const common = { clientId: 'bench', bootstrapBrokers: bootstrap.split(',') }
  const producer = new Producer({ ...common, acks: -1 })
  return {
    send: async (topic, records) => {
      await producer.send({ messages: records.map(({ partition, value }) => ({ topic, partition, value })) })
    },
    consume: async (topic, seen) => {
      const consumer = new Consumer({ ...common, groupId: `bench-${process.pid}` })
      const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false })
      const enough = Promise.withResolvers<void>()
      stream.on('data', ({ value }: { readonly value: Buffer }) => {
        if (seen(value)) enough.resolve()
      })
      await Promise.race([enough.promise, once(stream, 'error').then(([error]) => Promise.reject(error))])
      await consumer.close(true)
    },
    close: () => producer.close(),
  }
}
