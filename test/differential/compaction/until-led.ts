import { until } from '../../compatibility/broker-process.ts'
import { api } from '../../end-to-end/api.ts'
import type { RawClient } from '../../end-to-end/raw-client.ts'

/** A broker that has just started may not know yet that it leads. */
export async function untilLed(client: RawClient, name: string): Promise<void> {
  const topics = [{ name, partitions: [{ partitionIndex: 0, timestamp: -1n }] }]
  await until(`a leader of ${name}`, async () => {
    const answer = await client.call(api.listOffsets, 7, { replicaId: -1, topics })
    return answer.topics[0]!.partitions[0]!.errorCode === 0
  })
}
