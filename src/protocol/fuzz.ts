/**
 * Frames for fuzzing, in both directions, from the schemas: valid ones, and ones that were damaged in the ways that break
 * decoders. Everything comes from the `random` given, so a seed names a run.
 *
 *   const random = seededRandom(seed)
 *   socket.write(withSize(randomRequestFrame(random).bytes))
 */
import type { Random } from '../base/random.ts'
import { apiMessages } from './all-messages.ts'
import { apiOf } from './apis.ts'
import { encodeToBuffer } from './codec.ts'
import { encodeRequest, encodeResponse } from './frames.ts'
import { randomValue } from './random-value.ts'
import type { Message } from './schema.ts'
import { Writer } from './writer.ts'

export interface FuzzFrame {
  /** Without the int32 size. */
  readonly bytes: Buffer
  readonly apiKey: number
  readonly apiVersion: number
  readonly correlationId: number
  /** What was done to the frame; 'none' if it is valid. */
  readonly damage: Damage
}

export type Damage = 'none' | (typeof damages)[number]['name']

/** A request for any API in any version, damaged in half of all cases. `apiKeys` narrows the choice. */
export function randomRequestFrame(random: Random, apiKeys?: readonly number[]): FuzzFrame {
  const { request } = pickApi(random, apiKeys)
  const header = { ...pickHeader(request, random), clientId: random.below(4) === 0 ? '' : 'fuzz' }
  const value = randomValue(request, header.apiVersion, random)
  const { parts } = encodeRequest(newWriter(), header, request, value as never)
  return damaged((parts[0] as Buffer).subarray(4), { ...header, apiKey: request.key }, random)
}

/** An answer of any API in any version, damaged in half of all cases. */
export function randomResponseFrame(random: Random, apiKeys?: readonly number[]): FuzzFrame {
  const { response } = pickApi(random, apiKeys)
  const header = pickHeader(response, random)
  const value = randomValue(response, header.apiVersion, random)
  const { parts } = encodeResponse(newWriter(), header, response, value as never)
  return damaged((parts[0] as Buffer).subarray(4), { ...header, apiKey: response.key }, random)
}

/** The bytes of one random valid message, without a header. */
export function randomBody(message: Message, version: number, random: Random): Buffer {
  return encodeToBuffer(message, version, randomValue(message, version, random) as never)
}

/** A damaged copy. */
export function damage(bytes: Buffer, random: Random): { readonly bytes: Buffer; readonly damage: Damage } {
  const { name, apply } = damages[random.below(damages.length)]
  return { bytes: apply(bytes, random), damage: name }
}

/** Puts the int32 size in front. With `random`, one in eight sizes is a lie: negative, huge, or a little off. */
export function withSize(bytes: Buffer, random?: Random): Buffer {
  const framed = Buffer.alloc(4 + bytes.length)
  framed.writeInt32BE(random?.below(8) === 0 ? wrongSize(bytes.length, random) : bytes.length)
  bytes.copy(framed, 4)
  return framed
}

function wrongSize(size: number, random: Random): number {
  return [-1, -0x8000_0000, 0x7fff_ffff, 0, size + 1 + random.below(100), size - 1 - random.below(100)][random.below(6)]
}

function newWriter(): Writer {
  return new Writer({ chunkBytes: 1024, copiesAll: true })
}

function pickApi(random: Random, apiKeys: readonly number[] | undefined): (typeof apiMessages)[number] {
  const among = apiKeys === undefined ? apiMessages : apiMessages.filter(api => apiKeys.includes(api.request.key))
  return among[random.below(among.length)]
}

function pickHeader(message: Message, random: Random): { apiVersion: number; correlationId: number } {
  const highest = Math.min(message.maxVersion, apiOf(message.key)?.maxVersion ?? message.maxVersion)
  const apiVersion = message.minVersion + random.below(highest - message.minVersion + 1)
  return { apiVersion, correlationId: random.below(0x7fff_ffff) }
}

function damaged(
  bytes: Buffer,
  about: { readonly apiKey: number; readonly apiVersion: number; readonly correlationId: number },
  random: Random,
): FuzzFrame {
  const { apiKey, apiVersion, correlationId } = about
  if (random.below(2) === 0) return { bytes, apiKey, apiVersion, correlationId, damage: 'none' }
  return { apiKey, apiVersion, correlationId, ...damage(bytes, random) }
}

/** Lengths and counts that decoders fall over. */
const extremes = [
  'ffffffff',
  '7fffffff',
  '80000000',
  '00000000',
  '7fff',
  '8000',
  'ffffffff0f',
  '8080808080',
  '00',
  'ff',
]

const damages = [
  { name: 'truncated', apply: (bytes: Buffer, random: Random) => bytes.subarray(0, random.below(bytes.length + 1)) },
  {
    name: 'extended',
    apply: (bytes: Buffer, random: Random) => Buffer.concat([bytes, random.bytes(random.below(64))]),
  },
  { name: 'bitFlipped', apply: flipBits },
  { name: 'extremeWritten', apply: writeExtreme },
  { name: 'cutOut', apply: cutOut },
  { name: 'doubled', apply: double },
  { name: 'noise', apply: (_: Buffer, random: Random) => random.bytes(random.below(256)) },
  { name: 'unknownHeader', apply: unknownHeader },
] as const

function flipBits(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  if (copy.length === 0) return copy
  for (let left = 1 + random.below(4); left > 0; left--) copy[random.below(copy.length)] ^= 1 << random.below(8)
  return copy
}

function writeExtreme(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  Buffer.from(extremes[random.below(extremes.length)], 'hex').copy(copy, random.below(copy.length + 1))
  return copy
}

function range(bytes: Buffer, random: Random): readonly [from: number, to: number] {
  const from = random.below(bytes.length + 1)
  return [from, Math.min(bytes.length, from + 1 + random.below(16))]
}

function cutOut(bytes: Buffer, random: Random): Buffer {
  const [from, to] = range(bytes, random)
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
}

function double(bytes: Buffer, random: Random): Buffer {
  const [from, to] = range(bytes, random)
  return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)])
}

/** A key or version that nobody speaks, where a request has them. */
function unknownHeader(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  if (copy.length < 4) return copy
  if (random.below(2) === 0) copy.writeInt16BE([-1, 4, 7, 95, 0x7fff, -0x8000][random.below(6)], 0)
  else copy.writeInt16BE([-1, 99, 0x7fff, -0x8000][random.below(4)], 2)
  return copy
}
