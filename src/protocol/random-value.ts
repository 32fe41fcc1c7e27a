import type { Random } from '../base/random.ts'
import { zeroUuid } from '../base/uuid.ts'
import { isNullable, layoutOf } from './layout.ts'
import type { Field, Fields, Message, PrimitiveName } from './schema.ts'

/**
 * A random value that a version of a message can carry, with a liking for the edges: empty, null, least, greatest,
 * default. It holds no field that the version lacks. Lists grow shorter the deeper they are, so a value stays small.
 */
export function randomValue(message: Message, version: number, random: Random): Record<string, unknown> {
  return randomStruct(message.fields, version, random, 0)
}

function randomStruct(fields: Fields, version: number, random: Random, depth: number): Record<string, unknown> {
  const { plain, tagged } = layoutOf(fields, version)
  const value: Record<string, unknown> = {}
  for (const [name, field] of plain) value[name] = randomFieldValue(field, version, random, depth)
  for (const [name, field] of tagged) {
    if (random.below(2) === 0) value[name] = randomFieldValue(field, version, random, depth)
  }
  return value
}

function randomFieldValue(field: Field, version: number, random: Random, depth: number): unknown {
  if (isNullable(field, version) && random.below(5) === 0) return null
  if (field.type === 'struct') return randomStruct(field.of as Fields, version, random, depth + 1)
  if (field.type !== 'list') {
    const { default: value } = field.options
    return value !== undefined && value !== null && random.below(6) === 0 ? value : randomPrimitive(field.type, random)
  }
  const of = field.of!
  return Array.from({ length: randomCount(random, depth) }, () =>
    typeof of === 'string' ? randomPrimitive(of, random) : randomStruct(of, version, random, depth + 1),
  )
}

function randomCount(random: Random, depth: number): number {
  // Once in a while more than the 126 elements that a compact length holds in one byte.
  if (depth === 0 && random.below(40) === 0) return 120 + random.below(20)
  return random.below(Math.max(2, 5 - depth))
}

/** A whole number of up to `bits` bits: an edge, a small one or any. */
function randomInteger(bits: number, signed: boolean, random: Random): number {
  const span = 2 ** bits
  const least = signed ? -span / 2 : 0
  switch (random.below(5)) {
    case 0:
      return least
    case 1:
      return least + span - 1
    case 2:
      return signed ? random.below(3) - 1 : random.below(3)
    case 3:
      return random.below(100)
    default:
      return least + random.below(span)
  }
}

function randomInt64(random: Random): number {
  switch (random.below(8)) {
    case 0:
      return Number.POSITIVE_INFINITY
    case 1:
      return Number.NEGATIVE_INFINITY
    case 2:
      return random.below(2) === 0 ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER
    case 3:
      return -random.below(2 ** 48)
    case 4:
      return random.below(2 ** 48) * 32 + random.below(32)
    default:
      return randomInteger(32, true, random)
  }
}

function randomText(random: Random): string {
  const alphabet = random.below(3) === 0 ? 'aé漢😀\u0000' : 'abcdefghijklmnopqrstuvwxyz-_.0123456789'
  const units = [...alphabet]
  const length = [0, 1, random.below(12), random.below(60), 120 + random.below(20), random.below(400)][random.below(6)]
  let text = ''
  for (let i = 0; i < length; i++) text += units[random.below(units.length)]
  return text
}

function randomPrimitive(type: PrimitiveName, random: Random): unknown {
  switch (type) {
    case 'bool':
      return random.below(2) === 0
    case 'int8':
      return randomInteger(8, true, random)
    case 'int16':
      return randomInteger(16, true, random)
    case 'uint16':
      return randomInteger(16, false, random)
    case 'int32':
      return randomInteger(32, true, random)
    case 'uint32':
      return randomInteger(32, false, random)
    case 'int64':
      return randomInt64(random)
    case 'bigint64':
      return random.bytes(8).readBigInt64BE()
    case 'float64':
      return [0, -1.5, Number.MAX_VALUE, Number.NEGATIVE_INFINITY, random.below(1000) / 7][random.below(5)]
    case 'uuid':
      return random.below(4) === 0 ? zeroUuid : random.bytes(16).toString('base64url')
    case 'string':
      return randomText(random)
    case 'bytes':
    case 'records':
      return random.bytes([0, 1, random.below(40), random.below(300), random.below(5000)][random.below(5)])
  }
}
