import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../src/client/index.ts'
import { ApiKey } from '../../src/protocol/apis.ts'
import { MillraceProcess } from '../compatibility/millrace-process.ts'
import { checkSentAgain } from '../compatibility/sent-again.ts'
import { Tap } from '../compatibility/tap.ts'
import { inDirectory } from '../compatibility/temporary-directory.ts'
import { RawClient } from './raw-client.ts'
import { createTopic, fetch, recordsOf } from './requests.ts'

const topic = 'paid'

test('a batch that was appended when the broker was killed is sent again, and is there once', () =>
  inDirectory('millrace-resent', async dir => {
    await using tap = await Tap.open()
    const overrides = { 'advertised.listeners': `PLAINTEXT://${tap.bootstrap}` }
    await using broker = await MillraceProcess.start({ dir, overrides })
    tap.targetPort = Number(broker.bootstrap.split(':')[1])
    {
      using client = await RawClient.connect({ port: tap.targetPort })
      await createTopic(client, topic)
    }
    const client = createClient({ bootstrapServers: tap.bootstrap })
    const producer = client.producer()
    const values: string[] = []
    const offsets: number[] = []
    const send = async () => {
      const some = [0, 1, 2].map(n => `${values.length + n}`)
      values.push(...some)
      const sent = await producer.sendMany(some.map(value => ({ topic, value })))
      offsets.push(...sent.map(({ offset }) => offset))
    }
    await send()
    // Twice: the second time what was sent again is known from the log that was recovered before.
    for (let kills = 0; kills < 2; kills++) {
      let killed = Promise.resolve()
      const dropped = tap.dropNextAnswer(ApiKey.produce, () => {
        killed = broker.stop('SIGKILL')
      })
      const sent = send()
      const lost = await dropped
      await killed
      await broker.restart()
      await sent
      assert.deepEqual(checkSentAgain(lost, tap.calls), [])
    }
    await send()
    await client.close()
    using reader = await RawClient.connect({ port: tap.targetPort })
    const stored = recordsOf((await fetch(reader, { topic })).records)
    assert.deepEqual(
      stored.map(({ value }) => value),
      values,
    )
    assert.deepEqual(
      stored.map(({ offset }) => offset),
      offsets,
    )
    await broker.stop()
  }))
