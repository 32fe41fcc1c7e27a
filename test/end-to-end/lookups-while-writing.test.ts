import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBroker } from '../../src/testing/index.ts'
import { RawClient } from './raw-client.ts'
import { batchOf, createTopic, listOffset, produce } from './requests.ts'

const records = 400
const firstTimestamp = 1_700_000_000_000
const latest = -1n
const maxTimestamp = -3n

test('what is acknowledged is found by time, and as the newest, while others write on', async () => {
  await using broker = await startBroker()
  const writer = await RawClient.connect({ port: broker.port })
  const reader = await RawClient.connect({ port: broker.port })
  const place = await createTopic(writer, 'written')
  let acknowledged = 0
  const write = async () => {
    for (let index = 0; index < records; index++) {
      const { errorCode } = await produce(writer, place, batchOf(['x'], { timestamp: firstTimestamp + index }))
      assert.equal(errorCode, 0)
      acknowledged = index + 1
    }
  }
  const look = async () => {
    while (acknowledged < records) {
      const last = acknowledged - 1
      if (last < 0) await listOffset(reader, place, latest)
      else {
        const newest = await listOffset(reader, place, maxTimestamp)
        assert.ok(newest.offset >= last, `offset ${newest.offset} is the newest, and ${last} was acknowledged before`)
        const byTime = await listOffset(reader, place, BigInt(firstTimestamp + last))
        assert.deepEqual(byTime, { offset: last, timestamp: firstTimestamp + last })
      }
    }
  }
  await Promise.all([write(), look()])
  writer.close()
  reader.close()
})
