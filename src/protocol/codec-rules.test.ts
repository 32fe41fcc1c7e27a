import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { AssertionFailure } from '../base/assert.ts'
import { zeroUuid } from '../base/uuid.ts'
import { decode, encode, encodedSize, encodeToBuffer } from './codec.ts'
import { fetchRequest, fetchResponse } from './messages/fetch.ts'
import { metadataRequest } from './messages/metadata.ts'
import { produceRequest, produceResponse } from './messages/produce.ts'
import { EncodeError, ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import { consumerGroupMemberMetadataValue } from './records/consumer-group.ts'
import { decodeByReference, encodeByReference } from './reference-codec.ts'
import {
  bool,
  bytes,
  fields,
  float64,
  type Infer,
  type Input,
  int8,
  int16,
  int32,
  int64,
  list,
  type Message,
  message,
  records,
  string,
  struct,
  timestamp64,
  uint16,
  uint32,
  uuid,
} from './schema.ts'
import { Writer } from './writer.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

function referenceBytes(message: Message, version: number, value: unknown): Buffer {
  const writer = new Writer({ copiesAll: true, chunkBytes: 64 })
  encodeByReference(message, version, value, writer)
  return writer.finishBuffer()
}

/** Encodes with both codecs, which must agree, decodes with both, and returns the bytes and the value. */
function both<M extends Message>(message: M, version: number, value: Input<M>): { hex: string; value: Infer<M> } {
  const encoded = encodeToBuffer(message as Message, version, value as never)
  assert.deepEqual(encoded, referenceBytes(message, version, value))
  const decoded = decode(message as Message, version, encoded)
  assert.deepEqual(decoded, decodeByReference(message, version, new Reader(encoded)))
  return { hex: encoded.toString('hex'), value: decoded as Infer<M> }
}

function refuses(message: Message, version: number, bytes: Buffer): void {
  assert.throws(() => decode(message, version, bytes), ProtocolError)
  assert.throws(() => decodeByReference(message, version, new Reader(bytes)), ProtocolError)
}

function refusesToEncode(message: Message, version: number, value: unknown): void {
  assert.throws(() => encodeToBuffer(message, version, value as never), EncodeError)
  assert.throws(() => referenceBytes(message, version, value), EncodeError)
}

const every = message(
  'Every',
  { versions: '0-1', flexible: '1+' },
  {
    bool: bool('0+'),
    int8: int8('0+'),
    int16: int16('0+'),
    uint16: uint16('0+'),
    int32: int32('0+'),
    uint32: uint32('0+'),
    int64: int64('0+'),
    timestamp64: timestamp64('0+'),
    float64: float64('0+'),
    uuid: uuid('0+'),
    string: string('0+', { nullable: '0+' }),
    bytes: bytes('0+', { nullable: '0+' }),
    records: records('0+', { nullable: '0+' }),
    strings: list('0+', string, { nullable: '0+' }),
    struct: struct('0+', { one: int8('0+') }, { nullable: '0+' }),
  },
)

test('every type has the bytes that Kafka gives it', () => {
  const fixed = {
    bool: true,
    int8: -2,
    int16: -2,
    uint16: 65534,
    int32: -2,
    uint32: 4294967294,
    int64: -2,
    timestamp64: -2n,
    float64: -2,
    uuid: 'AAECAwQFBgcICQoLDA0ODw',
  }
  const fixedHex =
    '01 fe fffe fffe fffffffe fffffffe fffffffffffffffe fffffffffffffffe c000000000000000 000102030405060708090a0b0c0d0e0f'
  const full = {
    ...fixed,
    string: 'é',
    bytes: hex('aabb'),
    records: hex('cc'),
    strings: ['', 'x'],
    struct: { one: 1 },
  }
  const nulls = { ...fixed, string: null, bytes: null, records: null, strings: null, struct: null }
  const cases: [number, typeof full | typeof nulls, string][] = [
    [0, full, '0002 c3a9 00000002 aabb 00000001 cc 00000002 0000 0001 78 01 01'],
    [1, full, '03 c3a9 03 aabb 02 cc 03 01 02 78 01 01 00 00'],
    [0, nulls, 'ffff ffffffff ffffffff ffffffff ff'],
    [1, nulls, '00 00 00 00 ff 00'],
  ]
  for (const [version, value, tail] of cases) {
    const result = both(every, version, value)
    assert.equal(result.hex, hex(fixedHex + tail).toString('hex'))
    assert.deepEqual(result.value, value)
  }
})

test('any negative length means null', () => {
  const start = hex('00'.repeat(54))
  const nulls = hex('8000 80000000 fffffffe ffffff00 80')
  const value = decode(every, 0, Buffer.concat([start, nulls]))
  assert.deepEqual(
    [value.string, value.bytes, value.records, value.strings, value.struct],
    [null, null, null, null, null],
  )
  assert.equal(value.uuid, zeroUuid)
})

const strict = message(
  'Strict',
  { versions: '0-1', flexible: '1+' },
  {
    string: string('0+'),
    bytes: bytes('0+'),
    list: list('0+', int8),
    names: list('0+', string),
  },
)

test('null where none is allowed is refused, both ways', () => {
  for (const bytes of ['ffff', '0000 ffffffff', '0000 00000000 ffffffff', '0000 00000000 00000000 00000001 ffff']) {
    refuses(strict, 0, hex(bytes))
  }
  for (const bytes of ['00', '01 00', '01 01 00', '01 01 01 02 00 00']) refuses(strict, 1, hex(bytes))
  const value = { string: '', bytes: hex(''), list: [], names: [] }
  for (const name of Object.keys(value)) {
    for (const version of [0, 1]) {
      refusesToEncode(strict, version, { ...value, [name]: null })
      refusesToEncode(strict, version, { ...value, [name]: undefined })
    }
  }
  refusesToEncode(strict, 0, { ...value, names: [null] })
  refusesToEncode(strict, 1, { ...value, names: [undefined] })
})

test('an int64 that is no safe integer becomes infinite, never another number', () => {
  const one = message('One', { versions: '0', flexible: 'none' }, { value: int64('0+') })
  const cases: [string, number][] = [
    ['001fffffffffffff', Number.MAX_SAFE_INTEGER],
    ['0020000000000000', Number.POSITIVE_INFINITY],
    ['0020000000000001', Number.POSITIVE_INFINITY],
    ['7fffffffffffffff', Number.POSITIVE_INFINITY],
    ['ffe0000000000001', Number.MIN_SAFE_INTEGER],
    ['ffe0000000000000', Number.NEGATIVE_INFINITY],
    ['8000000000000000', Number.NEGATIVE_INFINITY],
    ['00000000ffffffff', 4294967295],
    ['ffffffff00000000', -4294967296],
    ['fffffffffffffffe', -2],
  ]
  for (const [bytes, value] of cases) {
    assert.equal(decode(one, 0, hex(bytes)).value, value)
    assert.deepEqual(decodeByReference(one, 0, new Reader(hex(bytes))), { value })
  }
  for (const value of [2 ** 53, 0.5, Number.NaN, '5', null]) refusesToEncode(one, 0, { value })
})

test('numbers out of range are refused by name', () => {
  const value = {
    ...{ bool: true, int8: 0, int16: 0, uint16: 0, int32: 0, uint32: 0, int64: 0, timestamp64: 0n, float64: 0 },
    ...{ uuid: zeroUuid, string: '', bytes: hex(''), records: hex(''), strings: [], struct: null },
  }
  both(every, 1, value)
  const wrong: [string, unknown[]][] = [
    ['bool', [1, null]],
    ['int8', [128, -129, 0.5, Number.NaN, null]],
    ['int16', [32768, -32769, Number.POSITIVE_INFINITY]],
    ['uint16', [65536, -1]],
    ['int32', [2147483648, -2147483649, '1']],
    ['uint32', [4294967296, -1]],
    ['timestamp64', [1, 2n ** 63n]],
    ['float64', ['1', null]],
    ['uuid', ['short', null]],
    ['string', ['x'.repeat(32768)]],
  ]
  for (const [name, values] of wrong) {
    for (const bad of values) refusesToEncode(every, 0, { ...value, [name]: bad })
  }
  const naming = /FetchRequest\.maxWaitMs cannot be 0\.5/
  const request = { minBytes: 1, topics: [], maxWaitMs: 0.5 } as never
  assert.throws(() => encodeToBuffer(fetchRequest, 4, request), naming)
})

const tagged = message(
  'Tagged',
  { versions: '0-2', flexible: '1+' },
  {
    plain: int8('0+'),
    number: int32('1+', { default: -1, tag: 0 }),
    place: struct('1+', { id: int32('0+', { default: -1 }), name: string('0+') }, { tag: 1 }),
    maybe: struct('1+', { id: int32('0+') }, { tag: 2, nullable: '0+', default: null }),
    words: list('1+', string, { tag: 3, nullable: '0+', ignorable: true }),
    later: uuid('2+', { tag: 5 }),
  },
)
const defaults = { number: -1, place: { id: -1, name: '' }, maybe: null, words: [], later: zeroUuid }

test('tagged fields at their defaults are left out', () => {
  assert.equal(both(tagged, 1, { plain: 7 }).hex, '0700')
  assert.equal(both(tagged, 1, { plain: 7, ...defaults }).hex, '0700')
  assert.deepEqual(both(tagged, 2, { plain: 7, place: { name: '' } }).value, { plain: 7, ...defaults })
})

test('tagged fields go out by ascending tag, each struct with a section of its own', () => {
  const value = { plain: 7, number: 5, place: { id: 1, name: 'n' }, maybe: { id: 2 }, words: ['a'], later: zeroUuid }
  const expected = '07 04 00 04 00000005 01 07 00000001 02 6e 00 02 06 01 00000002 00 03 03 02 02 61'
  const result = both(tagged, 2, value)
  assert.equal(result.hex, hex(expected).toString('hex'))
  assert.deepEqual(result.value, value)
})

test('a null that is not the default is written as a tag', () => {
  assert.equal(both(tagged, 1, { plain: 7, words: null }).hex, '0701030100')
  const member = {
    ...{ instanceId: null, rackId: null, clientId: '', clientHost: '', subscribedTopicNames: [] },
    ...{ subscribedTopicRegex: null, rebalanceTimeoutMs: 1, serverAssignor: null, classicMemberMetadata: null },
  }
  const result = both(consumerGroupMemberMetadataValue, 0, member)
  assert.equal(result.hex, hex('00 00 01 01 01 00 00000001 00 01 00 01 00').toString('hex'))
  assert.equal(result.value.classicMemberMetadata, null)
})

test('unknown tags are skipped, in any order, and the last of two wins', () => {
  const bytes = hex('07 04 63 02 aabb 00 04 00000005 8001 00 00 04 00000006')
  assert.deepEqual(decode(tagged, 1, bytes), { plain: 7, ...defaults, number: 6 })
  assert.deepEqual(decodeByReference(tagged, 1, new Reader(bytes)), { plain: 7, ...defaults, number: 6 })
})

test('a tagged field that does not fill its size is refused', () => {
  refuses(tagged, 1, hex('07 01 00 05 0000000500'))
  refuses(tagged, 1, hex('07 01 00 03 00000005'))
  refuses(tagged, 1, hex('07 01 01 06 00000001 05 6e00'))
  refuses(tagged, 1, hex('07 01 00 ffffffff0f 00000005'))
  refuses(tagged, 1, hex('07 ffffffff0f'))
  refuses(tagged, 1, hex('07 ffffffffff01'))
})

test('a value that a version lacks is an error, unless it is ignorable or its default', () => {
  assert.equal(both(tagged, 0, { plain: 7, words: ['dropped'], number: -1, maybe: null }).hex, '07')
  refusesToEncode(tagged, 0, { plain: 7, number: 5 })
  refusesToEncode(tagged, 0, { plain: 7, place: { id: 1, name: '' } })
  refusesToEncode(tagged, 0, { plain: 7, maybe: { id: 0 } })
  refusesToEncode(tagged, 1, { plain: 7, later: 'AAECAwQFBgcICQoLDA0ODw' })
  assert.throws(() => encodeToBuffer(tagged, 0, { plain: 7, number: 5 }), /Tagged\.number is not in version 0/)
})

test('records are views of the input, and go out uncopied', () => {
  const batch = Buffer.alloc(4096, 1)
  const value = { acks: -1, timeoutMs: 1, topicData: [{ name: 't', partitionData: [{ index: 0, records: batch }] }] }
  const writer = new Writer()
  encode(produceRequest, 9, value, writer)
  const { parts, byteLength } = writer.finish()
  assert.ok(parts.includes(batch))
  assert.equal(byteLength, encodedSize(produceRequest, 9, value))
  const input = encodeToBuffer(produceRequest, 9, value)
  assert.equal(input.length, byteLength)
  const { records: view } = decode(produceRequest, 9, input).topicData[0].partitionData[0]
  assert.equal(view?.buffer, input.buffer)
  const file = { length: 10_000 }
  const partition = { partitionIndex: 0, errorCode: 0, highWatermark: 9, abortedTransactions: null }
  const ranged = { ...partition, records: { byteLength: 14_096, parts: [file, batch] } }
  const response = { throttleTimeMs: 0, responses: [{ topic: 't', partitions: [ranged] }] }
  encode(fetchResponse, 11, response as never, writer)
  assert.deepEqual(writer.finish().parts.slice(1, 3), [file, batch])
})

test('counts that the bytes left cannot hold are refused before anything is made', () => {
  const counts = ['7fffffff', '00ffffff', '00000002']
  const item = fields({ id: int64('0+'), names: list('0+', string) })
  const nested = message('Nested', { versions: '0-1', flexible: '1+' }, { items: list('0+', item) })
  for (const count of counts) refuses(nested, 0, hex(`${count} 0000000000000001 00000000 00000000`))
  for (const count of ['ffffffff0f', 'ffffff7f', '03']) refuses(nested, 1, hex(`${count} 0000000000000001 01 00 0000`))
})

test('the elements of all lists of a message together are bounded', () => {
  const names = message('Names', { versions: '1', flexible: '1+' }, { names: list('0+', list1()) })
  const bytes = Buffer.concat([hex('04'), ...Array.from({ length: 3 }, () => hex('04 010101 00')), hex('00')])
  assert.equal(decode(names, 1, new Reader(bytes, 0, bytes.length, 12)).names.length, 3)
  for (const read of [decode, decodeByReference] as const) {
    assert.throws(() => read(names as never, 1, new Reader(bytes, 0, bytes.length, 11)), /too many elements/)
  }
  const flood = Buffer.alloc(6_000_000, 1)
  hex('80 d6 8d 02').copy(flood)
  const before = process.memoryUsage().heapUsed
  refuses(message('Flood', { versions: '0', flexible: '0+' }, { names: list('0+', string) }), 0, flood)
  assert.ok(process.memoryUsage().heapUsed - before < 20e6)
})

function list1() {
  return fields({ inner: list('0+', string) })
}

test('bytes behind a message are left to the reader', () => {
  const reader = new Reader(hex('aa 00000000 bb'), 1)
  assert.deepEqual(decode(metadataRequest, 0, reader).topics, [])
  assert.equal(reader.left, 1)
})

test('asking for a version that a message does not have is a bug', () => {
  assert.throws(() => decode(fetchRequest, 3, hex('')), AssertionFailure)
  assert.throws(() => encodeToBuffer(fetchRequest, 19, {} as never), AssertionFailure)
})

test('codecs have names in stacks and profiles', () => {
  const throwing = {
    get responses(): never {
      throw new Error('here')
    },
  }
  try {
    encodeToBuffer(produceResponse, 13, throwing as never)
    assert.fail()
  } catch (error) {
    assert.match((error as Error).stack!, /encodeProduceResponseV13 .*millrace:ProduceResponse\.v13/)
  }
})

test('where code from strings is forbidden the reference codec serves', () => {
  const script = `
    const { decode, encodeToBuffer } = await import(${JSON.stringify(new URL('codec.ts', import.meta.url).href)})
    const { metadataRequest } = await import(${JSON.stringify(new URL('messages/metadata.ts', import.meta.url).href)})
    const bytes = encodeToBuffer(metadataRequest, 1, { topics: [{ name: 'x' }] })
    console.log(bytes.toString('hex'), decode(metadataRequest, 1, bytes).topics[0].name)`
  const flags = ['--disallow-code-generation-from-strings', '--input-type=module', '-e', script]
  const output = execFileSync(process.execPath, flags, { encoding: 'utf8', timeout: 20_000 })
  assert.equal(output.trim(), '000000010001' + '78 x')
})

test('types follow the schema', () => {
  type Plain = Input<typeof tagged>
  const least: Plain = { plain: 1 }
  // @ts-expect-error: a field of every version without a default must be given
  const none: Plain = {}
  // @ts-expect-error: null only where the schema allows it
  const wrong: Plain = { plain: null }
  const decoded: Infer<typeof tagged> = decode(tagged, 0, hex('01'))
  const name: string = decoded.place.name
  const maybe: number | undefined = decoded.maybe?.id
  assert.deepEqual([least.plain, none.plain, wrong.plain, name, maybe], [1, undefined, null, '', undefined])
})
