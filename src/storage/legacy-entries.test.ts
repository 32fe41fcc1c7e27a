import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { batchOf, bytesOf, onHost, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

/** An entry of magic 1, as Kafka wrote it before 0.11; it would have an epoch, if it were read as a batch. */
function legacyEntry(offset: number, valueBytes: number): Buffer {
  const entry = Buffer.alloc(34 + valueBytes, 0x41)
  entry.writeBigInt64BE(BigInt(offset), 0)
  entry.writeInt32BE(entry.length - 12, 8)
  entry[16] = 1
  entry[17] = 0
  entry.writeBigInt64BE(BigInt(1000 + offset), 18)
  entry.writeInt32BE(-1, 26)
  entry.writeInt32BE(valueBytes, 30)
  for (let salt = 0; salt === 0 || entry.readInt32BE(12) <= 0; salt++) {
    entry[entry.length - 1] = salt
    entry.writeUInt32BE(crc32(entry.subarray(16)), 12)
  }
  return entry
}

async function assertReadable(log: SegmentedLog, entries: readonly Buffer[]): Promise<void> {
  for (const [offset, entry] of entries.entries()) {
    const read = log.read({ offset, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' })
    assert.deepEqual(await bytesOf(read), entry, `offset ${offset}`)
    const found = await log.findByTimestamp(BigInt(1000 + offset))
    assert.ok(found !== undefined && 'offset' in found, `offset ${offset}`)
    assert.equal(found.offset, offset)
  }
}

for (const valueBytes of [1, 60]) {
  test(`entries from before an upgrade, with values of ${valueBytes} bytes, are copied, read, and found again by each start`, () =>
    onHost({ config: { indexIntervalBytes: 100 } }, async host => {
      const log = await host.openLog()
      const entries = Array.from({ length: 20 }, (_, offset) => legacyEntry(offset, valueBytes))
      for (let at = 0; at < 20; at += 5)
        assert.equal(log.appendAsFollower(Buffer.concat(entries.slice(at, at + 5))), undefined)
      await written(host, log)
      assert.deepEqual([log.latestEpoch, log.inspect().producers], [-1, []])
      await assertReadable(log, entries)
      log.roll()
      await log.compaction.need(0)
      for (const end of ['kill', 'clean', 'clean']) {
        if (end === 'clean') await host.close()
        else host.node.crash('kill')
        await assertReadable(await host.openLog(), entries)
      }
      entries.push(batchOf({ baseOffset: 20, partitionLeaderEpoch: 3, timestamp: 1020 }))
      assert.equal(host.log().appendAsFollower(entries[20]), undefined)
      await written(host, host.log())
      host.node.crash('kill')
      const last = await host.openLog()
      await assertReadable(last, entries)
      assert.deepEqual(last.inspect().epochs, [{ leaderEpoch: 3, startOffset: 20 }])
      assert.deepEqual([host.faults.damage, host.faults.events], [[], []])
    }))
}
