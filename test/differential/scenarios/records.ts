import { updateCrc } from '../../../src/records/batch.ts'
import { BatchBuilder } from '../../../src/records/builder.ts'
import { Codec } from '../../../src/records/compression/codec.ts'
import { api } from '../../end-to-end/api.ts'
import {
  append,
  batchOf,
  type FetchOptions,
  fetchBody,
  type Place,
  type ProduceOptions,
  produceBody,
} from '../../end-to-end/requests.ts'
import { newProducerId, type Side } from '../side.ts'
import { range, type Scenarios } from './scenario.ts'

const unknownId = 'AAECAwQFBgcICQoLDA0ODw'
/** A time that is the same on both sides. */
const time = 1_700_000_000_000

function produced(side: Side, label: string, place: Place, records: Buffer | null, options: ProduceOptions = {}) {
  const version = options.version ?? 9
  return side.ask(label, api.produce, version, produceBody(place, records, options))
}

function fetched(side: Side, label: string, places: readonly Place[], options: FetchOptions = {}) {
  const version = options.version ?? 12
  return side.ask(label, api.fetch, version, fetchBody(places, options))
}

function twoRecords(fields: object = {}): Buffer {
  return batchOf(['one', 'two'], { timestamp: time, ...fields })
}

/** A batch with some bytes of its header changed and a CRC that is right again. */
function patched(
  changes: readonly (readonly [at: number, value: number, bytes: 1 | 2 | 4 | 8])[],
  batch = twoRecords(),
) {
  for (const [at, value, bytes] of changes) {
    if (bytes === 8) batch.writeBigInt64BE(BigInt(value), at)
    else batch.writeIntBE(value, at, bytes)
  }
  updateCrc(batch, 0)
  return batch
}

function withRecordByte(at: number, value: number): Buffer {
  return patched([[61 + at, value, 1]])
}

/** None at all (null) is not among them: Kafka never answers that. */
const badBatches: Readonly<Record<string, () => Buffer>> = {
  empty: () => Buffer.alloc(0),
  'ten bytes': () => Buffer.alloc(10),
  'twelve zeros': () => Buffer.alloc(12),
  'a header that is cut': () => twoRecords().subarray(0, 40),
  'records that are cut': () => twoRecords().subarray(0, twoRecords().length - 1),
  'a byte too many': () => Buffer.concat([twoRecords(), Buffer.alloc(1)]),
  'two batches': () => Buffer.concat([twoRecords(), twoRecords()]),
  'a wrong CRC': () => {
    const batch = twoRecords()
    batch[batch.length - 1] ^= 1
    return batch
  },
  'magic 0': () => patched([[16, 0, 1]]),
  'magic 1': () => patched([[16, 1, 1]]),
  'magic 3': () => patched([[16, 3, 1]]),
  'magic -1': () => patched([[16, -1, 1]]),
  'a length of 0': () => patchedLength(0),
  'a negative length': () => patchedLength(-1),
  'a length that is too small': () => patchedLength(48),
  'base offset 5': () => patched([[0, 5, 8]]),
  'base offset -1': () => patched([[0, -1, 8]]),
  'leader epoch 7': () => patched([[12, 7, 4]]),
  'a control batch': () => patched([[21, 0x20, 2]]),
  'a codec that does not exist': () => patched([[21, 5, 2]]),
  'codec 7': () => patched([[21, 7, 2]]),
  'said to be gzip': () => patched([[21, 1, 2]]),
  'said to be snappy': () => patched([[21, 2, 2]]),
  'said to be lz4': () => patched([[21, 3, 2]]),
  'said to be zstd': () => patched([[21, 4, 2]]),
  'an unknown attribute': () => patched([[21, 0x80, 2]]),
  'with a delete horizon': () => patched([[21, 0x40, 2]]),
  'said to have LogAppendTime': () => patched([[21, 0x08, 2]]),
  'last offset delta 5': () => patched([[23, 5, 4]]),
  'last offset delta -1': () => patched([[23, -1, 4]]),
  'count 0': () => patched([[57, 0, 4]]),
  'count -1': () => patched([[57, -1, 4]]),
  'count 1': () => patched([[57, 1, 4]]),
  'count 3': () => patched([[57, 3, 4]]),
  'count 1 and delta 0': () =>
    patched([
      [57, 1, 4],
      [23, 0, 4],
    ]),
  'count 3 and delta 2': () =>
    patched([
      [57, 3, 4],
      [23, 2, 4],
    ]),
  'a producer without sequence': () => patched([[43, 7, 8]]),
  'a producer without epoch': () =>
    patched([
      [43, 7, 8],
      [53, 0, 4],
    ]),
  'a sequence without producer': () => patched([[53, 0, 4]]),
  'producer -2': () => patched([[43, -2, 8]]),
  'a record that is too long': () => withRecordByte(0, 0x7e),
  'a record of negative length': () => withRecordByte(0, 0x01),
  'a record with attributes': () => withRecordByte(1, 0x01),
  'a record with another offset': () => withRecordByte(3, 0x08),
  'a key of length -2': () => withRecordByte(4, 0x03),
  'a key that is too long': () => withRecordByte(4, 0x40),
  'no timestamps': () => batchOf(['one', 'two'], { timestamp: -1 }),
  'timestamps below -1': () => batchOf(['one', 'two'], { timestamp: -5 }),
  'timestamps of the year 9999': () => batchOf(['one', 'two'], { timestamp: 253_402_300_000_000 }),
  'a max timestamp that is wrong': () => patched([[35, time + 5000, 8]]),
}

function patchedLength(length: number): Buffer {
  const batch = twoRecords()
  batch.writeInt32BE(length, 8)
  return batch
}

/** As a client might get it wrong; without epoch or sequence Kafka fails on those that it has to unpack. */
const strangeProducers = [-1n, -2n, -(2n ** 40n), -(2n ** 62n), -(2n ** 63n)].flatMap(id =>
  [-1, 0, -2].flatMap(epoch => [-1, 0].map(sequence => ({ id, epoch, sequence }))),
)

function withProducer(batch: Buffer, { id, epoch, sequence }: (typeof strangeProducers)[number]): Buffer {
  batch.writeBigInt64BE(id, 43)
  batch.writeInt16BE(epoch, 51)
  return patched([[53, sequence, 4]], batch)
}

export const recordScenarios: Scenarios = {
  'Produce: batches of strange producers': async side => {
    const kept = await side.createTopic('kept')
    const unpacked = await side.createTopic('unpacked', { configs: { 'compression.type': 'uncompressed' } })
    for (const producer of strangeProducers) {
      const { id, epoch, sequence } = producer
      const about = `producer ${id}, epoch ${epoch}, sequence ${sequence}`
      const batch = (): Buffer => withProducer(twoRecords({ codec: Codec.gzip }), producer)
      await produced(side, `as it is, ${about}`, kept, batch())
      if (id === -1n || (epoch !== -1 && sequence >= 0)) await produced(side, `unpacked, ${about}`, unpacked, batch())
    }
    await fetched(side, 'kept', [kept])
    await fetched(side, 'unpacked', [unpacked])
    const anything = withProducer(twoRecords({ codec: Codec.gzip }), { id: -2n, epoch: -1, sequence: -1 })
    await produced(side, 'unpacked, without epoch and sequence', unpacked, anything)
  },
  'Produce: batches that are not as they should be': async side => {
    for (const version of [3, 7, 9, 13]) {
      const place = await side.createTopic(`bad-${version}`)
      for (const [about, batch] of Object.entries(badBatches)) {
        await produced(side, `v${version}: ${about}`, place, batch(), { version })
      }
      await side.ask(`v${version}: what is stored`, api.fetch, 12, fetchBody([place]))
    }
  },
  'Produce: requests that are not as they should be': async side => {
    const place = await side.createTopic('there')
    for (const version of range(3, 13)) {
      await produced(
        side,
        `v${version}: unknown topic`,
        { topic: side.named('nowhere'), topicId: unknownId },
        twoRecords(),
        { version },
      )
      await produced(side, `v${version}: unknown partition`, { ...place, partition: 5 }, twoRecords(), { version })
      await produced(side, `v${version}: negative partition`, { ...place, partition: -1 }, twoRecords(), { version })
      for (const acks of [-2, 2, 7])
        await produced(side, `v${version}: acks ${acks}`, place, twoRecords(), { version, acks })
      await produced(side, `v${version}: acks 1`, place, twoRecords(), { version, acks: 1 })
      await produced(side, `v${version}: no time`, place, twoRecords(), { version, timeoutMs: 0 })
      await produced(side, `v${version}: negative time`, place, twoRecords(), { version, timeoutMs: -1 })
      await side.ask(`v${version}: no topics`, api.produce, version, { acks: -1, timeoutMs: 1000, topicData: [] })
      await side.ask(`v${version}: no partitions`, api.produce, version, {
        ...{ acks: -1, timeoutMs: 1000 },
        topicData: [{ ...(version >= 13 ? { topicId: place.topicId } : { name: place.topic }), partitionData: [] }],
      })
    }
    await produced(side, 'an illegal name', { topic: 'a b' }, twoRecords())
    const [nowhere, internal] = [{ topic: side.named('nowhere') }, { topic: '__consumer_offsets' }]
    await produced(side, 'internal', internal, twoRecords())
    await produced(side, 'unknown topic, acks 2', nowhere, twoRecords(), { acks: 2 })
    await produced(side, 'unknown topic, ten bytes', nowhere, Buffer.alloc(10))
    await produced(side, 'internal, acks 2', internal, twoRecords(), { acks: 2 })
    await produced(side, 'internal, ten bytes', internal, Buffer.alloc(10))
    await produced(side, 'ten bytes, acks 2', place, Buffer.alloc(10), { acks: 2 })
    await produced(side, 'acks 0, unknown topic', { topic: side.named('nowhere') }, twoRecords(), { acks: 0 }).catch(
      () => {},
    )
    await side.ask('the same partition twice', api.produce, 9, {
      ...{ acks: -1, timeoutMs: 1000 },
      topicData: [
        {
          name: place.topic,
          partitionData: [
            { index: 0, records: twoRecords() },
            { index: 0, records: twoRecords() },
          ],
        },
      ],
    })
    await side.ask('the same topic twice', api.produce, 9, {
      ...{ acks: -1, timeoutMs: 1000 },
      topicData: [0, 1].map(() => ({ name: place.topic, partitionData: [{ index: 0, records: twoRecords() }] })),
    })
  },
  'Produce: codecs and versions': async side => {
    for (const [name, codec] of Object.entries(Codec)) {
      const place = await side.createTopic(name)
      for (const version of [3, 6, 7, 13]) {
        await produced(side, `${name}, v${version}`, place, twoRecords({ codec }), { version })
      }
      await produced(side, `${name}, offsets with a gap`, place, gappedBatch(codec))
      const damaged = twoRecords({ codec })
      damaged.fill(0x55, 61 + 4, damaged.length - 2)
      updateCrc(damaged, 0)
      await produced(side, `${name}, damaged`, place, damaged)
      await fetched(side, `${name}, what is stored`, [place])
    }
  },
  'Produce: settings of the topic': async side => {
    const configured = async (name: string, configs: Record<string, string>) =>
      await side.createTopic(name, { configs })
    const appendTime = await configured('append-time', { 'message.timestamp.type': 'LogAppendTime' })
    await produced(side, 'LogAppendTime', appendTime, twoRecords())
    await produced(side, 'LogAppendTime, far away', appendTime, batchOf(['x'], { timestamp: 1 }))
    await fetched(side, 'LogAppendTime, stored', [appendTime])
    const bounded = await configured('bounded', {
      'message.timestamp.before.max.ms': '60000',
      'message.timestamp.after.max.ms': '60000',
    })
    await produced(side, 'too old', bounded, batchOf(['a', 'b'], { timestamp: Date.now() - 120_000 }))
    await produced(side, 'too new', bounded, batchOf(['a', 'b'], { timestamp: Date.now() + 120_000 }))
    await produced(side, 'no timestamp', bounded, batchOf(['a', 'b'], { timestamp: -1 }))
    await produced(side, 'in time', bounded, batchOf(['a', 'b']))
    const compacted = await configured('compacted', { 'cleanup.policy': 'compact' })
    for (const version of [7, 8, 13]) {
      await produced(side, `v${version}: without a key`, compacted, twoRecords({ key: null }), { version })
    }
    await produced(side, 'with a key', compacted, twoRecords())
    const small = await configured('small', { 'max.message.bytes': '200' })
    await produced(side, 'too large', small, batchOf(['x'.repeat(200)], { timestamp: time }))
    await produced(
      side,
      'too large, but not when packed',
      small,
      batchOf(['x'.repeat(500)], { timestamp: time, codec: Codec.gzip }),
    )
    const short = await configured('short', { 'max.decompressed.message.bytes': '500' })
    for (const [name, codec] of Object.entries(Codec)) {
      // Eight bytes are not the value's, of which two are its length.
      for (const length of [492, 493]) {
        const batch = batchOf(['x'.repeat(length), 'x'.repeat(length)], { timestamp: time, codec, key: null })
        await produced(side, `${name}: records of ${length + 8} bytes unpacked`, short, batch)
      }
    }
    for (const type of ['uncompressed', 'gzip', 'snappy', 'lz4', 'zstd']) {
      const place = await configured(`type-${type}`, { 'compression.type': type })
      for (const [name, codec] of Object.entries(Codec))
        await produced(side, `${type} of ${name}`, place, twoRecords({ codec }))
      const stored = await side.client.call(api.fetch, 12, fetchBody([place]))
      // How well a codec packs is its own affair.
      side.tell(`${type}, stored`, stored.responses[0].partitions[0].highWatermark)
    }
    const two = await configured('two-replicas', { 'min.insync.replicas': '2' })
    await produced(side, 'min.insync.replicas 2', two, twoRecords())
    await produced(side, 'min.insync.replicas 2, acks 1', two, twoRecords(), { acks: 1 })
  },
  'Produce: sequences': async side => {
    const place = await side.createTopic('sequences')
    const producerId = await newProducerId(side.client)
    const send = (label: string, producerEpoch: number, baseSequence: number, values = ['x', 'y']) =>
      produced(side, label, place, batchOf(values, { timestamp: time, producerId, producerEpoch, baseSequence }))
    await send('begins with 5', 0, 5)
    await send('the same again', 0, 5)
    await send('a gap', 0, 9)
    await send('next', 0, 7)
    await send('an overlap', 0, 8)
    await send('part of a former one', 0, 7, ['x'])
    for (let i = 0; i < 5; i++) await send(`goes on ${i}`, 0, 9 + 2 * i)
    await send('the first again', 0, 5)
    await send('the third again', 0, 9)
    await send('newer epoch, not from 0', 1, 19)
    await send('newer epoch from 0', 1, 0)
    await send('older epoch', 0, 19)
    await send('older epoch, a duplicate', 0, 17)
    await send('negative epoch', -1, 2)
    const other = await side.createTopic('wraps')
    const wrap = (label: string, baseSequence: number, values: string[]) =>
      produced(side, label, other, batchOf(values, { timestamp: time, producerId, producerEpoch: 0, baseSequence }))
    await wrap('near the end', 0x7fff_fffe, ['a', 'b', 'c'])
    await wrap('after the end', 1, ['d'])
    await wrap('near the end again', 0x7fff_fffe, ['a', 'b', 'c'])
    await fetched(side, 'stored', [place, other])
  },
  'Fetch: offsets, limits and epochs': async side => {
    const place = await filled(side, 'fetched')
    for (const version of range(4, 18)) {
      for (const offset of [0, 1, 2, 3, 4, 5, 6, 100, -1, -2])
        await fetched(side, `v${version}: from ${offset}`, [place], { version, offset })
      await fetched(side, `v${version}: unknown topic`, [{ topic: side.named('nowhere'), topicId: unknownId }], {
        version,
      })
      await fetched(side, `v${version}: unknown partition`, [{ ...place, partition: 7 }], { version })
      await fetched(side, `v${version}: read committed`, [place], { version, isolationLevel: 1 })
      if (version >= 9) {
        for (const currentLeaderEpoch of [0, 1, -2, 100]) {
          await fetched(side, `v${version}: epoch ${currentLeaderEpoch}`, [place], { version, currentLeaderEpoch })
        }
      }
    }
    for (const partitionMaxBytes of [-1, 0, 1, 11, 12, 60, 61, 80, 100, 150, 200, 250, 300, 1000]) {
      await fetched(side, `${partitionMaxBytes} of the partition`, [place], { partitionMaxBytes })
    }
    for (const maxBytes of [-1, 0, 1, 60, 100, 200, 1000])
      await fetched(side, `${maxBytes} in all`, [place], { maxBytes })
    for (const minBytes of [-1, 0, 1]) await fetched(side, `at least ${minBytes}`, [place], { minBytes })
    await fetched(side, 'the same twice', [place, place])
  },
  'Fetch: the epoch that was fetched last': async side => {
    const place = await filled(side, 'diverging')
    const empty = await side.createTopic('diverging-empty')
    await side.ask('delete', api.deleteRecords, 2, {
      topics: [{ name: place.topic, partitions: [{ partitionIndex: 0, offset: 3 }] }],
      timeoutMs: 5000,
    })
    for (const version of range(12, 18)) {
      for (const lastFetchedEpoch of [-2, -1, 0, 1, 100]) {
        const label = `v${version}: epoch ${lastFetchedEpoch}`
        for (const offset of [-1, 0, 2, 3, 6, 7, 100])
          await fetched(side, `${label} at ${offset}`, [place], { version, offset, lastFetchedEpoch })
        const options = { version, offset: 4, lastFetchedEpoch, currentLeaderEpoch: 1 }
        await fetched(side, `${label}, and a newer leader epoch`, [place], options)
        await fetched(side, `${label} of an empty log`, [empty], { version, lastFetchedEpoch })
        await fetched(side, `${label} beyond an empty log`, [empty], { version, offset: 1, lastFetchedEpoch })
      }
    }
  },
  'Fetch: limits over several partitions': async side => {
    const { topic, topicId } = await side.createTopic('several', { partitions: 3 })
    const places = [0, 1, 2].map(partition => ({ topic, topicId, partition }))
    for (const place of places) for (let i = 0; i < 3; i++) await produceQuietly(side, place)
    for (const maxBytes of [0, 1, 100, 200, 300, 400, 500, 1000]) {
      for (const partitionMaxBytes of [1, 150, 1000]) {
        await fetched(side, `${maxBytes} in all, ${partitionMaxBytes} each`, places, { maxBytes, partitionMaxBytes })
      }
    }
    await fetched(side, 'one at its end', [places[0], places[1]], { offset: 6, maxBytes: 100 })
    await fetched(side, 'read committed', places, { partitionMaxBytes: 1, isolationLevel: 1 })
  },
  'Fetch: sessions': async side => {
    const { topic, topicId } = await side.createTopic('session', { partitions: 3 })
    const places = [0, 1, 2].map(partition => ({ topic, topicId, partition }))
    for (const place of places) await produceQuietly(side, place)
    for (const version of [7, 11, 12, 13, 17, 18]) {
      const asked = (
        label: string,
        of: readonly Place[],
        sessionId: number,
        sessionEpoch: number,
        options: FetchOptions = {},
      ) => fetched(side, `v${version}: ${label}`, of, { version, sessionId, sessionEpoch, ...options })
      await asked('no such session', [], 12_345, 1)
      await asked('no session, an epoch', places, 0, 5)
      await asked('closing none', places, 0, -1)
      const opened = await asked('open', places.slice(0, 2), 0, 0)
      const id = opened!.sessionId
      await asked('again with the same', places.slice(0, 2), id, 1)
      await asked('nothing new asked', [], id, 2)
      await asked('from the end', places.slice(0, 2), id, 3, { offset: 2 })
      await asked('nothing there', [], id, 4)
      await produceQuietly(side, places[1])
      await asked('news of one', [], id, 5)
      await asked('a third', [places[2]], id, 6)
      await asked('an unknown one', [{ topic: side.named('nowhere'), topicId: unknownId }], id, 7)
      await asked('the unknown one still', [], id, 8)
      await asked('an offset out of range', [places[2]], id, 9, { offset: 99 })
      await asked('still out of range', [], id, 10)
      await side.ask(`v${version}: forget`, api.fetch, version, {
        ...fetchBody([], { version, sessionId: id, sessionEpoch: 11 }),
        forgottenTopicsData: [
          { ...(version >= 13 ? { topicId } : { topic }), partitions: [1, 2, 9] },
          { ...(version >= 13 ? { topicId: unknownId } : { topic: side.named('nowhere') }), partitions: [0] },
        ],
      })
      await asked('out of step', [], id, 11)
      await asked('out of step again', [], id, 13)
      await asked('in step', [], id, 12)
      await asked('close', [places[0]], id, -1)
      await asked('after the close', [], id, 13)
      const second = await asked('open another', [places[0]], 0, 0)
      await asked('replace it', [places[1]], second!.sessionId, 0)
      await asked('the replaced one', [], second!.sessionId, 1)
      await asked('open with nothing', [], 0, 0)
      const later = side.named(`later-${version}`)
      const third = await asked(
        'open with an unknown one first',
        [{ topic: later, topicId: unknownId }, places[2]],
        0,
        0,
      )
      if (version < 13) await side.createTopic(`later-${version}`)
      await asked('the unknown one is there now', [], third!.sessionId, 1)
    }
  },
  'ListOffsets: every kind of time': async side => {
    const place = await filled(side, 'listed')
    const empty = await side.createTopic('empty')
    const times = [
      -7n,
      -6n,
      -5n,
      -4n,
      -3n,
      -2n,
      -1n,
      0n,
      BigInt(time),
      BigInt(time + 1),
      BigInt(time + 5),
      BigInt(time + 100_000),
    ]
    for (const version of range(1, 11)) {
      const ask = (label: string, topic: string, timestamp: bigint, about: object = {}, more: object = {}) =>
        side.ask(`v${version}: ${label}`, api.listOffsets, version, {
          replicaId: -1,
          ...more,
          topics: [{ name: topic, partitions: [{ partitionIndex: 0, timestamp, ...about }] }],
        })
      for (const timestamp of times) {
        await ask(`${timestamp}`, place.topic, timestamp)
        await ask(`${timestamp} of nothing`, empty.topic, timestamp)
      }
      await ask('the largest time', place.topic, 0x7fff_ffff_ffff_ffffn)
      await ask('unknown topic', side.named('nowhere'), -1n)
      await ask('unknown partition', place.topic, -1n, { partitionIndex: 9 })
      if (version >= 2) await ask('read committed', place.topic, -1n, {}, { isolationLevel: 1 })
      if (version >= 4) {
        for (const currentLeaderEpoch of [0, 1, -2])
          await ask(`epoch ${currentLeaderEpoch}`, place.topic, -1n, { currentLeaderEpoch })
      }
      await side.ask(`v${version}: twice`, api.listOffsets, version, {
        replicaId: -1,
        topics: [
          {
            name: place.topic,
            partitions: [
              { partitionIndex: 0, timestamp: -1n },
              { partitionIndex: 0, timestamp: -2n },
            ],
          },
        ],
      })
    }
    await side.ask('as a replica', api.listOffsets, 7, {
      replicaId: 1,
      topics: [{ name: place.topic, partitions: [{ partitionIndex: 0, timestamp: -1n }] }],
    })
    await side.ask('as a debugger', api.listOffsets, 7, {
      replicaId: -2,
      topics: [{ name: place.topic, partitions: [{ partitionIndex: 0, timestamp: -1n }] }],
    })
  },
  'ListOffsets: the largest time where records have none': async side => {
    const untimed = (values: readonly string[]) => batchOf(values, { timestamp: -1 })
    const at = (later: number) => batchOf(['x'], { timestamp: time + later })
    const large = 'x'.repeat(600_000)
    const logs: Readonly<Record<string, readonly Buffer[]>> = {
      untimed: [untimed(['a', 'b']), untimed(['c']), untimed(['d'])],
      segments: [untimed([large]), untimed([large]), untimed(['c'])],
      'timed first': [at(7), at(5), untimed(['a', 'b'])],
      'timed last': [untimed(['a', 'b']), at(5), at(7)],
    }
    for (const [name, batches] of Object.entries(logs)) {
      const place = await side.createTopic(name.replace(' ', '-'), { configs: { 'segment.bytes': '1048576' } })
      for (const records of batches) await produced(side, `${name}: produce`, place, records)
      const askAll = async (when: string) => {
        for (const version of range(7, 11)) {
          for (const isolationLevel of [0, 1])
            await side.ask(`${name}, ${when}, v${version}, isolation ${isolationLevel}`, api.listOffsets, version, {
              replicaId: -1,
              isolationLevel,
              topics: [{ name: place.topic, partitions: [{ partitionIndex: 0, timestamp: -3n }] }],
            })
        }
      }
      await askAll('whole')
      for (const offset of [1, 2, 3, -1]) {
        await side.ask(`${name}: delete ${offset}`, api.deleteRecords, 2, {
          topics: [{ name: place.topic, partitions: [{ partitionIndex: 0, offset }] }],
          timeoutMs: 10_000,
        })
        await askAll(`deleted to ${offset}`)
      }
    }
  },
  'OffsetForLeaderEpoch: every kind of epoch': async side => {
    const place = await filled(side, 'epochs')
    for (const version of [2, 3, 4]) {
      for (const leaderEpoch of [-1, 0, 1, 5]) {
        for (const currentLeaderEpoch of [-1, 0, 1]) {
          await side.ask(
            `v${version}: ${leaderEpoch}, current ${currentLeaderEpoch}`,
            api.offsetForLeaderEpoch,
            version,
            {
              ...(version >= 3 ? { replicaId: -1 } : {}),
              topics: [
                {
                  topic: place.topic,
                  partitions: [
                    { partition: 0, leaderEpoch, currentLeaderEpoch },
                    { partition: 7, leaderEpoch, currentLeaderEpoch },
                  ],
                },
                { topic: side.named('nowhere'), partitions: [{ partition: 0, leaderEpoch, currentLeaderEpoch }] },
              ],
            },
          )
        }
      }
    }
  },
  'DeleteRecords: offsets and what follows': async side => {
    const place = await filled(side, 'cut')
    const compacted = await side.createTopic('compacted', {
      configs: { 'cleanup.policy': 'compact' },
    })
    await append(side.client, compacted, ['x'])
    const ask = (label: string, offset: number, about: Place = place) =>
      side.ask(label, api.deleteRecords, 2, {
        topics: [{ name: about.topic, partitions: [{ partitionIndex: about.partition ?? 0, offset }] }],
        timeoutMs: 5000,
      })
    await ask('-2', -2)
    await ask('0', 0)
    await ask('beyond the end', 7)
    await ask('unknown topic', 0, { topic: side.named('nowhere') })
    await ask('unknown partition', 0, { ...place, partition: 4 })
    await ask('compacted', 1, compacted)
    await ask('internal', 0, { topic: '__consumer_offsets' })
    await ask('inside of a batch', 3)
    await ask('below the start', 1)
    await fetched(side, 'from the start', [place], { offset: 3 })
    await fetched(side, 'below the start', [place], { offset: 2 })
    for (const timestamp of [-2n, -1n, -3n, 0n]) {
      await side.ask(`offset of ${timestamp}`, api.listOffsets, 7, {
        replicaId: -1,
        topics: [{ name: place.topic, partitions: [{ partitionIndex: 0, timestamp }] }],
      })
    }
    await ask('everything', -1)
    await fetched(side, 'at the end', [place], { offset: 6 })
    await produced(side, 'and on', place, twoRecords())
    await side.ask('epoch 0', api.offsetForLeaderEpoch, 4, {
      replicaId: -1,
      topics: [{ topic: place.topic, partitions: [{ partition: 0, leaderEpoch: 0 }] }],
    })
  },
}

/** Three batches of two records, with timestamps that grow by one. */
async function filled(side: Side, name: string): Promise<Required<Place>> {
  const place = await side.createTopic(name)
  for (let i = 0; i < 3; i++) {
    const batch = batchOf([`${i}a`, `${i}b`], { timestamp: time + i })
    await side.client.call(api.produce, 9, produceBody(place, batch))
  }
  return place
}

async function produceQuietly(side: Side, place: Place): Promise<void> {
  await side.client.call(api.produce, 9, produceBody(place, twoRecords()))
}

/** Two records at offsets 0 and 3. */
function gappedBatch(codec: number): Buffer {
  const builder = new BatchBuilder()
  builder.appendAt(0, time, Buffer.from('k'), Buffer.from('one'))
  builder.appendAt(3, time, Buffer.from('k'), Buffer.from('two'))
  return patched([[23, 1, 4]], Buffer.from(builder.finish({ codec })))
}
