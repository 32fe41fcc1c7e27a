import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { batchHeaderBytes, readCodec, readMaxTimestamp, readTimestampType, updateCrc } from '../records/batch.ts'
import { batchSpans } from '../records/batch-header.ts'
import { BatchBuilder } from '../records/builder.ts'
import { Codec } from '../records/compression/codec.ts'
import { compressSync } from '../records/compression/compress.ts'
import { decompressSync } from '../records/compression/decompress.ts'
import { append, batchOf, bytesOf, type Host, onHost, readAll, tryAppend, written } from './fixture.test.ts'
import type { SegmentedLog } from './segmented-log.ts'

const now = { monotonicMs: 0, wallMs: 1_700_000_000_000 }

describe('a follower', () => {
  async function leader(host: Host): Promise<{ log: SegmentedLog; bytes: Buffer }> {
    const log = await host.openLog()
    for (let index = 0; index < 30; index++)
      append(log, { count: 1 + (index % 4), leaderEpoch: index >> 3, valueBytes: 40 })
    await written(host, log)
    return { log, bytes: Buffer.concat(await readAll(log)) }
  }

  test('has the same bytes, epochs and segments as its leader', () =>
    onHost({ config: { segmentBytes: 1500 } }, async host => {
      const { log, bytes } = await leader(host)
      const follower = host.log(1)
      assert.equal(follower.appendAsFollower(bytes), undefined)
      await written(host, follower)
      assert.deepEqual(await readAll(follower), await readAll(log))
      assert.deepEqual(follower.inspect().epochs, log.inspect().epochs)
      assert.deepEqual(follower.inspect().segments, log.inspect().segments)
    }))

  test('ignores a last batch that is cut off', () =>
    onHost({}, async host => {
      const { log, bytes } = await leader(host)
      const follower = host.log(1)
      const spans = [...batchSpans(bytes)]
      const cut = bytes.subarray(0, spans[5]!.at + 20)
      assert.equal(follower.appendAsFollower(cut), undefined)
      await written(host, follower)
      assert.deepEqual(await readAll(follower), (await readAll(log)).slice(0, 5))
      assert.equal(follower.appendAsFollower(bytes.subarray(spans[5]!.at)), undefined)
      await written(host, follower)
      assert.deepEqual(await readAll(follower), await readAll(log))
    }))

  test('takes nothing of bytes that are damaged, do not continue its log, or are of an older epoch', () =>
    onHost({}, async host => {
      const { bytes } = await leader(host)
      const follower = host.log(1)
      const damaged = Buffer.from(bytes)
      damaged[damaged.length - 3]! ^= 1
      assert.equal(follower.appendAsFollower(damaged)?.errorCode, ErrorCode.corruptMessage)
      assert.equal(follower.nextOffset, 0)
      assert.equal(follower.appendAsFollower(bytes), undefined)
      assert.equal(follower.appendAsFollower(bytes)?.type, 'refused', 'it has them already')
      const old = batchOf({ baseOffset: follower.nextOffset, partitionLeaderEpoch: 1 })
      assert.equal(follower.appendAsFollower(old)?.errorCode, ErrorCode.fencedLeaderEpoch)
      assert.equal(follower.appendAsFollower(bytes.subarray(0, 30))?.type, 'refused', 'not one whole batch')
    }))

  test('checks what comes behind an epoch that began in a gap, too', () =>
    onHost({}, async host => {
      const follower = await host.openLog()
      const batches = (offsets: readonly number[]) =>
        Buffer.concat(offsets.map((baseOffset, index) => batchOf({ baseOffset, partitionLeaderEpoch: 2 * index })))
      const damaged = batches([0, 10])
      damaged[damaged.length - 3]! ^= 1
      assert.equal(follower.appendAsFollower(damaged)?.errorCode, ErrorCode.corruptMessage)
      assert.equal(follower.appendAsFollower(batches([0, 10, 9]))?.errorCode, ErrorCode.invalidRecord)
      const older = Buffer.concat([batches([0, 10, 20]), batchOf({ baseOffset: 21, partitionLeaderEpoch: 3 })])
      assert.equal(follower.appendAsFollower(older)?.errorCode, ErrorCode.fencedLeaderEpoch)
      assert.equal(follower.nextOffset, 0)
      assert.equal(follower.appendAsFollower(batches([0, 10])), undefined)
      assert.equal(follower.nextOffset, 11)
    }))

  test('goes over offsets that its leader has cleaned away', () =>
    onHost({ config: { isCompacted: true, segmentBytes: 300 } }, async host => {
      await host.open()
      const follower = host.log()
      for (const baseOffset of [0, 10, 500, 501, 9000]) {
        assert.equal(follower.appendAsFollower(batchOf({ baseOffset, partitionLeaderEpoch: 0 })), undefined)
        await written(host, follower)
      }
      assert.equal(follower.logEndOffset, 9001)
      const again = await host.reopen()
      assert.equal((await readAll(again)).length, 5)
      assert.equal(
        (
          await bytesOf(again.read({ offset: 502, maxBytes: 1, minOneBatch: true, isolation: 'logEndOffset' }))
        ).readUInt32BE(4),
        9000,
      )
      host.node.crash('kill')
      await host.open()
      assert.equal((await readAll(host.log())).length, 5)
      assert.deepEqual(host.faults.damage, [])
    }))
})

test('an index that was damaged is made anew while the log goes on', () =>
  onHost({ config: { indexIntervalBytes: 200, segmentBytes: 100_000 } }, async host => {
    for (const name of ['index', 'timeindex']) {
      const first = host.io === undefined ? await host.openLog() : host.log()
      for (let index = 0; index < 50; index++) append(first, { valueBytes: 60, timestamp: 2000 + index })
      await written(host, first)
      await host.close()
      host.io = host.node.start()
      host.io.disk.writeSmallFile(`/data/topic-0/00000000000000000000.${name}`, Buffer.from('broken'))
      host.node.crash('kill')
      await host.open()
      const log = host.log()
      const start = log.logEndOffset
      const reads = []
      for (let index = 0; index < 50; index++) {
        append(log, { valueBytes: 60, timestamp: 9000 + start + index })
        if (index % 5 === 0) reads.push(readAll(log))
        await written(host, log)
      }
      await Promise.all(reads)
      assert.equal((await readAll(log)).length, log.logEndOffset)
      const found = await log.findByTimestamp(BigInt(9000 + start + 20))
      assert.equal(found?.type === undefined && found?.offset, start + 20)
      assert.deepEqual(host.faults.damage, [])
    }
    const end = host.log().logEndOffset
    const again = await host.reopen()
    assert.equal((await readAll(again)).length, end)
  }))

describe('durability', () => {
  test('is told when it was asked for, one sync for all that asked meanwhile', () =>
    onHost({}, async host => {
      const log = await host.openLog()
      const flushed: number[] = []
      log.listen({
        logEndOffsetMoved: () => undefined,
        flushedOffsetMoved: () => flushed.push(log.flushedOffset),
        logStartOffsetMoved: () => undefined,
        appendsFailed: () => undefined,
      })
      for (let index = 0; index < 50; index++) {
        append(log)
        log.requestFlush()
        await host.world.sleep(0.2)
      }
      await host.world.sleep(1000)
      assert.equal(flushed.at(-1), 50)
      assert.ok(flushed.length < 25, `${flushed.length} syncs`)
      assert.deepEqual(
        flushed,
        [...flushed].sort((a, b) => a - b),
      )
      host.node.crash('power')
      await host.open()
      assert.equal(host.log().logEndOffset, 50)
    }))

  test('of flush.messages comes before a record is shown', () =>
    onHost({ config: { flushMessages: 1 } }, async host => {
      const log = await host.openLog()
      let isAhead = false
      log.listen({
        logEndOffsetMoved: () => {
          isAhead ||= log.logEndOffset > log.flushedOffset
        },
        flushedOffsetMoved: () => undefined,
        logStartOffsetMoved: () => undefined,
        appendsFailed: () => undefined,
      })
      for (let index = 0; index < 20; index++) {
        append(log)
        if (index % 3 === 0) await written(host, log)
      }
      await written(host, log)
      assert.equal(log.flushedOffset, 20)
      assert.equal(isAhead, false)
    }))

  test('of flush.ms comes by itself', () =>
    onHost({ config: { flushMs: 3000 } }, async host => {
      const log = await host.openLog()
      append(log)
      await written(host, log)
      await host.world.sleep(1500)
      assert.equal(log.flushedOffset, 0)
      await host.world.sleep(4000)
      assert.equal(log.flushedOffset, 1)
    }))
})

describe('a batch', () => {
  test('gets the time of the broker where the topic asks for it', () =>
    onHost({ config: { timestampType: 'LogAppendTime' } }, async host => {
      const log = await host.openLog()
      const reserved = log.reserve({ batch: batchOf({ timestamp: 5 }), origin: 'client', leaderEpoch: 0, now })
      assert.ok(reserved.type === 'reserved')
      assert.equal(reserved.logAppendTimeMs, now.wallMs)
      log.append(reserved)
      await written(host, log)
      const [batch] = await readAll(log)
      assert.equal(readTimestampType(batch!, 0), 'LogAppendTime')
      assert.equal(readMaxTimestamp(batch!, 0), BigInt(now.wallMs))
    }))

  test('is stored with the codec of the topic', () =>
    onHost({ config: { compressionType: 'lz4' } }, async host => {
      const log = await host.openLog()
      for (const codec of [Codec.none, Codec.gzip, Codec.lz4]) append(log, { codec, count: 3 })
      await written(host, log)
      assert.deepEqual(
        (await readAll(log)).map(batch => readCodec(batch, 0)),
        [Codec.lz4, Codec.lz4, Codec.lz4],
      )
    }))

  test('that is too large to be unpacked on the loop is asked for unpacked', () =>
    onHost({}, async host => {
      const log = await host.openLog()
      const builder = new BatchBuilder()
      for (let index = 0; index < 40; index++) builder.append(1000, null, Buffer.alloc(100_000, index))
      const batch = Buffer.from(builder.finish({ codec: Codec.gzip }))
      const request = { batch, origin: 'client', leaderEpoch: 0, now } as const
      const answer = log.reserve(request)
      assert.ok(answer.type === 'needsUnpacking')
      const unpacked = decompressSync(answer.codec, answer.input, answer.maxBytes)
      assert.ok(unpacked.type === 'done')
      while (answer.check.step(unpacked.output));
      const reserved = log.reserve({ ...request, prepared: { check: answer.check, records: unpacked.output } })
      assert.ok(reserved.type === 'reserved')
      log.append(reserved)
      await written(host, log)
      assert.equal(log.logEndOffset, 40)
    }))

  test('that was packed anew says the codec it was packed with, though the topic has another by then', () =>
    onHost({ config: { compressionType: 'zstd' } }, async host => {
      const log = await host.openLog()
      const builder = new BatchBuilder()
      for (let index = 0; index < 40; index++) builder.append(1000, null, Buffer.alloc(100_000, index))
      const batch = Buffer.from(builder.finish({ codec: Codec.gzip }))
      const request = { batch, origin: 'client', leaderEpoch: 0, now } as const
      const answer = log.reserve(request)
      assert.ok(answer.type === 'needsUnpacking')
      const unpacked = decompressSync(answer.codec, answer.input, answer.maxBytes)
      assert.ok(unpacked.type === 'done')
      const records = unpacked.output
      while (answer.check.step(records));
      const packing = log.reserve({ ...request, prepared: { check: answer.check, records } })
      assert.ok(packing.type === 'needsPacking')
      assert.equal(packing.codec, Codec.zstd)
      const packed = { codec: packing.codec, bytes: compressSync(packing.codec, records) }
      log.configure({ ...log.config, compressionType: 'lz4' })
      const reserved = log.reserve({ ...request, prepared: { check: answer.check, records, packed } })
      assert.ok(reserved.type === 'reserved')
      log.append(reserved)
      await written(host, log)
      const [stored] = await readAll(log)
      assert.equal(readCodec(stored!, 0), Codec.zstd)
      const read = decompressSync(Codec.zstd, stored!.subarray(batchHeaderBytes), 8_000_000)
      assert.ok(read.type === 'done' && read.output.equals(records))
    }))

  test('that is refused changes nothing', () =>
    onHost({ config: { maxMessageBytes: 500 } }, async host => {
      const log = await host.openLog()
      append(log, { producerId: 1, producerEpoch: 0, baseSequence: 0 })
      const before = log.inspect()
      const damaged = batchOf()
      damaged[70]! ^= 1
      const control = batchOf({ isControl: true })
      const cases: [Buffer, number][] = [
        [damaged, ErrorCode.corruptMessage],
        [control, ErrorCode.invalidRecord],
        [batchOf({ valueBytes: 600 }), ErrorCode.messageTooLarge],
        [batchOf({ producerId: 1, producerEpoch: 0, baseSequence: 5 }), ErrorCode.outOfOrderSequenceNumber],
        [batchOf({ timestamp: now.wallMs + 4_000_000 }), ErrorCode.invalidTimestamp],
      ]
      for (const [batch, errorCode] of cases) {
        const refused = tryAppend(log, batch)
        assert.ok(typeof refused === 'object')
        assert.equal(refused.errorCode, errorCode)
      }
      assert.deepEqual(log.inspect(), before)
      assert.equal(log.nextOffset, 1)
    }))

  test('of a coordinator is taken as it is, unless it is too large', () =>
    onHost({ config: { maxMessageBytes: 500, isCompacted: true } }, async host => {
      const log = await host.openLog()
      const batch = batchOf({ timestamp: 1 })
      batch.writeInt16BE(0, 21)
      updateCrc(batch, 0)
      assert.equal(tryAppend(log, batch, { origin: 'coordinator' }), 0)
      const refused = tryAppend(log, batchOf({ valueBytes: 600 }), { origin: 'coordinator' })
      assert.ok(typeof refused === 'object' && refused.errorCode === ErrorCode.messageTooLarge)
    }))
})

describe('a read', () => {
  const large = { config: { maxMessageBytes: 10_000_000 } }

  test('is cut at the byte limit as Kafka cuts it', () =>
    onHost(large, async host => {
      const log = await host.openLog()
      for (let index = 0; index < 10; index++) append(log)
      await written(host, log)
      const [first] = await readAll(log)
      const size = first!.length
      const read = async (maxBytes: number, minOneBatch: boolean) => {
        return (await bytesOf(log.read({ offset: 0, maxBytes, minOneBatch, isolation: 'logEndOffset' }))).length
      }
      assert.equal(await read(size * 2 + 5, true), size * 2 + 5, 'in the middle of the third batch')
      assert.equal(await read(1, true), size, 'but the first is whole')
      assert.equal(await read(size - 1, false), 0, 'unless that was not asked for')
      assert.equal(await read(size, false), size)
    }))

  test('of much comes as a range of the file, of little as bytes from memory', () =>
    onHost(large, async host => {
      const log = await host.openLog()
      for (let index = 0; index < 40; index++) append(log, { valueBytes: 5000 })
      await written(host, log)
      const read = (maxBytes: number) =>
        log.read({ offset: 35, maxBytes, minOneBatch: true, isolation: 'logEndOffset' })
      const small = read(6000)
      assert.ok(
        !(small instanceof Promise) && small.type === 'read' && small.parts.every(part => Buffer.isBuffer(part)),
      )
      const all = log.read({ offset: 0, maxBytes: 1_000_000, minOneBatch: true, isolation: 'logEndOffset' })
      const read0 = await all
      assert.ok(read0.type === 'read' && read0.parts.length === 1 && !Buffer.isBuffer(read0.parts[0]))
      assert.equal((await bytesOf(read0)).length, log.sizeBytes)
    }))

  test('at the tail needs no disk, neither do those that follow it', () =>
    onHost({ config: { segmentBytes: 4000 } }, async host => {
      const log = await host.openLog()
      let offset = 0
      for (let index = 0; index < 100; index++) {
        append(log, { count: 2 })
        await written(host, log)
        const read = log.read({ offset, maxBytes: 10_000, minOneBatch: true, isolation: 'logEndOffset' })
        assert.ok(!(read instanceof Promise), `the read at ${offset} asks the disk`)
        assert.ok((await bytesOf(read)).length > 0)
        offset = log.logEndOffset
      }
    }))

  test('from the disk is of bytes that were checked', () =>
    onHost({ limits: { fileRangeFromBytes: 1 } }, async host => {
      append(await host.openLog(), { count: 5 })
      await written(host, host.log())
      const log = await host.reopen()
      const read = () => log.read({ offset: 0, maxBytes: 10_000, minOneBatch: true, isolation: 'logEndOffset' })
      const first = await read()
      assert.ok(first.type === 'read' && Buffer.isBuffer(first.parts[0]), 'the first comes through the pool')
      const second = await read()
      assert.ok(second.type === 'read' && !Buffer.isBuffer(second.parts[0]), 'the second may leave by the kernel')
      assert.deepEqual(await bytesOf(second), first.parts[0])
    }))
})

test('a duplicate whose timestamp no number holds is answered without it', () =>
  onHost({ config: { timestampBeforeMaxMs: Infinity, timestampAfterMaxMs: Infinity } }, async host => {
    const log = await host.openLog()
    for (const [producerId, timestamp, expected] of [
      [1, 2n ** 53n - 1n, Number.MAX_SAFE_INTEGER],
      [2, 2n ** 54n + 1n, -1],
    ] as const) {
      const builder = new BatchBuilder()
      builder.append(timestamp, null, Buffer.from('value'))
      const batch = () => Buffer.from(builder.finish({ producerId, producerEpoch: 0, baseSequence: 0 }))
      const request = { origin: 'client', leaderEpoch: 0, now: { monotonicMs: 0, wallMs: 1_700_000_000_000 } } as const
      const first = log.reserve({ batch: batch(), ...request })
      assert.ok(first.type === 'reserved', JSON.stringify(first))
      log.append(first)
      const again = log.reserve({ batch: batch(), ...request })
      assert.ok(again.type === 'duplicate')
      assert.equal(again.logAppendTimeMs, expected)
    }
  }))

test('times without an end begin segments, and delete the log', () =>
  onHost({ config: { segmentBytes: 500, segmentJitterMs: Infinity, fileDeleteDelayMs: Infinity } }, async host => {
    await host.openLog()
    for (const [partition, segmentMs] of [1000, Infinity].entries()) {
      const log = host.log(partition)
      log.configure({ ...host.config, segmentMs })
      for (let index = 0; index < 10; index++) append(log, { valueBytes: 100 })
      await written(host, log)
      assert.ok(log.inspect().segments.length > 3)
    }
    host.directories.delete(host.log())
  }))
