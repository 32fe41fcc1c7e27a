import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32c, crc32cInScript } from './crc32c.ts'
import { SeededRandom } from './seeded-random.ts'

test('the check value of CRC-32C is right, natively and in script', () => {
  const check = Buffer.from('123456789')
  assert.equal(crc32c(check), 0xe3069283)
  assert.equal(crc32cInScript(check, 0, check.length, 0), 0xe3069283)
})

test('both ways agree for every length and alignment around the switch between them', () => {
  const bytes = new SeededRandom(1).bytes(1200)
  for (let length = 0; length < 600; length++) {
    const start = length % 17
    assert.equal(crc32c(bytes, start, start + length), crc32cInScript(bytes, start, start + length, 0))
  }
})

test('the CRC of a whole can be taken piece by piece', () => {
  const bytes = new SeededRandom(2).bytes(5000)
  const whole = crc32c(bytes)
  for (const cut of [0, 1, 7, 150, 4000, 5000]) {
    assert.equal(crc32c(bytes, cut, bytes.length, crc32c(bytes, 0, cut)), whole)
  }
})
