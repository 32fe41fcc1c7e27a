import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadNative } from './native.ts'

test('a package without a binary for this platform is undefined, not an error', () => {
  assert.equal(loadNative('a-package-that-is-not-there'), undefined)
})

test('the binaries that speed depends on load here', () => {
  for (const name of ['@node-rs/crc32', 'lz4-napi', 'snappy']) assert.notEqual(loadNative(name), undefined)
})
