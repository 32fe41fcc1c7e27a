import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiMessages, otherMessages } from './all-messages.ts'
import { decode, encode, encodeToBuffer } from './codec.ts'
import { ProtocolError } from './protocol-error.ts'
import { randomValue } from './random-value.ts'
import { Reader } from './reader.ts'
import { decodeByReference, encodeByReference } from './reference-codec.ts'
import type { Message } from './schema.ts'
import { seededRandom } from './seeded-random.ts'
import { Writer } from './writer.ts'

const messages: readonly Message[] = [...apiMessages.flatMap(api => [api.request, api.response]), ...otherMessages]

function eachVersion(run: (message: Message, version: number) => void): void {
  for (const message of messages) {
    for (let version = message.minVersion; version <= message.maxVersion; version++) run(message, version)
  }
}

function referenceBytes(message: Message, version: number, value: unknown): Buffer {
  const writer = new Writer({ chunkBytes: 64, copiesAll: true })
  encodeByReference(message, version, value, writer)
  return writer.finish().parts[0] as Buffer
}

test('compiled codecs write and read as the reference codec does, for every message and version', () => {
  const random = seededRandom(1)
  eachVersion((message, version) => {
    for (let round = 0; round < 6; round++) {
      const value = randomValue(message, version, random)
      const bytes = encodeToBuffer(message, version, value)
      const where = `${message.name} v${version}`
      assert.equal(bytes.toString('hex'), referenceBytes(message, version, value).toString('hex'), where)
      const reader = new Reader(bytes)
      const decoded = decode(message, version, reader)
      assert.equal(reader.left, 0, where)
      assert.deepEqual(decoded, decodeByReference(message, version, new Reader(bytes)), where)
      assert.equal(encodeToBuffer(message, version, decoded as never).toString('hex'), bytes.toString('hex'), where)
    }
  })
})

test('a message that ends too early is a ProtocolError at every length', () => {
  const random = seededRandom(2)
  eachVersion((message, version) => {
    const bytes = encodeToBuffer(message, version, randomValue(message, version, random))
    for (let length = 0; length < bytes.length; length += 1 + (bytes.length >> 6)) {
      assert.throws(() => decode(message, version, bytes.subarray(0, length)), ProtocolError)
    }
  })
})

test('a writer that is used again for frame after frame gives each its own bytes', () => {
  const random = seededRandom(3)
  const writer = new Writer({ chunkBytes: 256 })
  const frames: { bytes: Buffer; expected: Buffer }[] = []
  eachVersion((message, version) => {
    const value = randomValue(message, version, random)
    writer.beginFrame()
    encode(message, version, value, writer)
    const { parts, byteLength } = writer.finish()
    const bytes = Buffer.concat(parts as Buffer[])
    assert.equal(bytes.length, byteLength)
    frames.push({ bytes, expected: encodeToBuffer(message, version, value) })
  })
  for (const { bytes, expected } of frames) {
    assert.equal(bytes.readInt32BE(), expected.length)
    assert.equal(bytes.compare(expected, 0, expected.length, 4), 0)
  }
})
