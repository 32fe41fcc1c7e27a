import { sendBatch } from './send-batch.ts'
import { type RecordShape, UniqueRecords } from './unique-records.ts'
import { pickPartition, think, type Workplace } from './workplace.ts'

export interface PlainOptions {
  readonly shape: RecordShape
  readonly codecs: readonly number[]
  readonly acks: readonly (0 | 1 | -1)[]
  readonly thinkMs: number
}

/** A producer without a memory: each batch is sent once, to any partition. */
export async function runPlainProducer(at: Workplace, options: PlainOptions): Promise<void> {
  const { random, client } = at
  const records = new UniqueRecords(at.process, random, options.shape)
  while (!at.isStopping()) {
    await think(at, options.thinkMs)
    const target = await pickPartition(at)
    if (target === undefined) continue
    for (let left = random.between(1, 10); left > 0 && !at.isStopping(); left--) {
      const batch = records.draw(client.io.clock.now().wallMs, { areKeyed: at.isCompacted(target.topic.name) })
      const send = { acks: random.pick(options.acks), codec: random.pick(options.codecs), attempt: 1 }
      const result = sendBatch(at, target, batch, send)
      if (random.chance(0.3)) continue
      if ((await result).type !== 'ok') break
      await think(at, options.thinkMs)
    }
  }
}
