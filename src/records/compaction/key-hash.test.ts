import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyHash } from './key-hash.ts'

function hashOf(key: Buffer, seed: [number, number, number, number], before = 0): number[] {
  const bytes = Buffer.alloc(before + key.length, 0xaa)
  key.copy(bytes, before)
  const words = new Int32Array(6)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  new KeyHash(seed).into(words, 1, bytes, view, before, bytes.length)
  return [...words.subarray(1, 5)].map(word => word >>> 0)
}

const seed: [number, number, number, number] = [0x833d3433, 0x009f389f, 0x2398e64f, 0x417acf39]

test('the hash is Chaskey, by its published vectors', () => {
  const message = (length: number) => Buffer.from(Array.from({ length }, (_, index) => index))
  assert.deepEqual(hashOf(message(0), seed), [0x792e8fe5, 0x75ce87aa, 0x2d1450b5, 0x1191970b])
  assert.deepEqual(hashOf(message(1), seed), [0x13a9307b, 0x50e62c89, 0x4577bd88, 0xc0bbdc18])
  assert.deepEqual(hashOf(message(2), seed), [0x55df8922, 0x2c7ff577, 0x73809ef4, 0x4e5084c0])
})

test('keys that differ in length, in one byte or in zeros at the end have other hashes; where a key lies does not matter', () => {
  const seen = new Set<string>()
  for (let length = 0; length < 70; length++) {
    const key = Buffer.alloc(length)
    const keys = [key, ...[...key.keys()].map(at => Buffer.from(key).fill(0x80, at, at + 1))]
    for (const one of keys) {
      const hash = hashOf(one, seed).join()
      assert.ok(!seen.has(hash))
      seen.add(hash)
      assert.equal(hashOf(one, seed, 3).join(), hash)
    }
  }
})

test('another seed gives another hash, in all of its words', () => {
  const [one, other] = [hashOf(Buffer.from('key'), [1, 2, 3, 4]), hashOf(Buffer.from('key'), [1, 2, 3, 5])]
  for (const word of one.keys()) assert.notEqual(one[word], other[word])
})
