import { createClient } from '../../src/client/index.ts'
import type { MeasuredClient } from './measured-client.ts'

export async function connect(bootstrapServers: string): Promise<MeasuredClient> {
  const client = createClient({ bootstrapServers })
  // The others are not idempotent unless they are told to.
  const producer = client.producer({ idempotent: false })
  return {
    send: async (topic, records) => {
      await producer.sendMany(records.map(({ partition, value }) => ({ topic, partition, value })))
    },
    consume: async (topic, seen) => {
      const consumer = client.consumer({ groupId: `bench-${process.pid}`, autoCommit: false, offsetReset: 'earliest' })
      consumer.subscribe([topic])
      for await (const batch of consumer) {
        for (const record of batch) if (seen(record.value!)) return await consumer.close()
      }
    },
    close: () => client.close(),
  }
}
