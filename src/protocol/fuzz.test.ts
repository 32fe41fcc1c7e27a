import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiMessages, otherMessages } from './all-messages.ts'
import { apiOf } from './apis.ts'
import { decode } from './codec.ts'
import { decodeRequestHeader, decodeResponseHeader } from './frames.ts'
import { damage, randomBody, randomRequestFrame, randomResponseFrame, withSize } from './fuzz.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import { decodeByReference } from './reference-codec.ts'
import type { Message } from './schema.ts'
import { seededRandom } from './seeded-random.ts'

/** `FUZZ_SEED` and `FUZZ_ROUNDS` hunt for longer. */
const seed = Number(process.env.FUZZ_SEED ?? 4)
const rounds = Number(process.env.FUZZ_ROUNDS ?? 1)

const messages: readonly Message[] = [...apiMessages.flatMap(api => [api.request, api.response]), ...otherMessages]
const apiMessagesOf = new Map(apiMessages.map(api => [api.request.key, api]))

/** The value and where reading stopped, or that it was refused. Anything but a ProtocolError passes through. */
function outcome(read: (reader: Reader) => unknown, bytes: Buffer): unknown {
  const reader = new Reader(bytes)
  try {
    return { value: read(reader), position: reader.position }
  } catch (error) {
    if (error instanceof ProtocolError) return 'refused'
    throw error
  }
}

test('damaged bodies are refused, or read as the reference codec reads them', () => {
  const random = seededRandom(seed)
  let refused = 0
  let accepted = 0
  for (let round = 0; round < rounds; round++) {
    for (const message of messages) {
      for (let version = message.minVersion; version <= message.maxVersion; version++) {
        for (let i = 0; i < 8; i++) {
          const { bytes } = damage(randomBody(message, version, random), random)
          const compiled = outcome(reader => decode(message, version, reader), bytes)
          const expected = outcome(reader => decodeByReference(message, version, reader), bytes)
          assert.deepEqual(compiled, expected, `${message.name} v${version} ${bytes.toString('hex')}`)
          if (compiled === 'refused') refused++
          else accepted++
        }
      }
    }
  }
  assert.ok(refused > accepted / 4 && accepted > refused / 4, 'the damage is neither harmless nor always fatal')
})

test('any request frame is decoded or refused', () => {
  const random = seededRandom(seed + 1)
  const seen = new Set<string>()
  for (let i = 0; i < 3000 * rounds; i++) {
    const frame = randomRequestFrame(random)
    const result = outcome(reader => {
      const header = decodeRequestHeader(reader)
      const api = apiOf(header.apiKey)!
      if (header.apiVersion > api.maxVersion || header.apiVersion < api.minVersion) return header
      return decode(apiMessagesOf.get(header.apiKey)!.request, header.apiVersion, reader)
    }, frame.bytes)
    seen.add(frame.damage)
    if (frame.damage === 'none') assert.notEqual(result, 'refused')
  }
  assert.equal(seen.size, 9, 'every kind of damage was done')
})

test('any response frame is decoded or refused', () => {
  const random = seededRandom(seed + 2)
  for (let i = 0; i < 3000 * rounds; i++) {
    const { bytes, apiKey, apiVersion, correlationId, damage } = randomResponseFrame(random)
    const result = outcome(reader => {
      const id = decodeResponseHeader(reader, apiKey, apiVersion)
      if (damage === 'none') assert.equal(id, correlationId)
      return decode(apiMessagesOf.get(apiKey)!.response, apiVersion, reader)
    }, bytes)
    if (damage === 'none') assert.equal((result as { position: number }).position, bytes.length)
  }
})

test('a seed names a run', () => {
  const run = (seed: number) => {
    const random = seededRandom(seed)
    return Buffer.concat(Array.from({ length: 50 }, () => withSize(randomRequestFrame(random).bytes, random)))
  }
  assert.deepEqual(run(7), run(7))
  assert.notDeepEqual(run(7), run(8))
})
