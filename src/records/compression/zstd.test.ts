import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constants, zstdCompressSync } from 'node:zlib'
import { hex } from '../hex.ts'
import { unpackZstd } from './zstd.ts'
import { findZstdFrames } from './zstd-frames.ts'

const { ZSTD_c_checksumFlag, ZSTD_c_contentSizeFlag } = constants

test('frames are found with their lengths in every form of header', () => {
  for (const length of [0, 1, 255, 256, 65_791, 65_792, 300_000]) {
    for (const params of [{}, { [ZSTD_c_checksumFlag]: 1 }, { [ZSTD_c_contentSizeFlag]: 0 }]) {
      const bytes = zstdCompressSync(Buffer.alloc(length, 'z'), { params, pledgedSrcSize: length })
      const frames = findZstdFrames(bytes)
      assert.equal(frames?.length, 1)
      assert.equal(frames[0].end, bytes.length)
      assert.ok([length, undefined].includes(frames[0].contentBytes))
      assert.deepEqual(unpackZstd(bytes, length), { type: 'done', output: Buffer.alloc(length, 'z') })
    }
  }
})

test('skippable frames are skipped, junk is not', () => {
  const frame = zstdCompressSync(Buffer.from('content'))
  const skippable = hex('522a4d18 03000000 616263')
  const bytes = Buffer.concat([frame, frame])
  assert.equal(findZstdFrames(Buffer.concat([skippable, frame, skippable]))?.length, 1)
  assert.deepEqual(unpackZstd(bytes, 100), { type: 'done', output: Buffer.from('contentcontent') })
  assert.equal(unpackZstd(Buffer.concat([frame, Buffer.from('junk')]), 100).type, 'corrupt')
  assert.equal(unpackZstd(Buffer.concat([frame, Buffer.from('longer junk')]), 100).type, 'corrupt')
  assert.equal(unpackZstd(skippable, 100).type, 'corrupt')
})

test('a content size above the bound is refused without unpacking', () => {
  const bytes = zstdCompressSync(Buffer.alloc(1000), { pledgedSrcSize: 1000 })
  assert.equal(findZstdFrames(bytes)?.[0].contentBytes, 1000)
  assert.deepEqual(unpackZstd(bytes, 999), { type: 'tooLarge' })
})

test('a window of 128 MiB is taken, a larger one is not', () => {
  // The sixth byte of Kafka's frame around 300 times 'a' is the window: ten less than its logarithm, times eight.
  const withWindow = (windowLog: number) =>
    hex(`28b52ffd00 ${((windowLog - 10) * 8).toString(16)} 4c00001061610100272ac002010000`)
  assert.deepEqual(unpackZstd(withWindow(27), 300), { type: 'done', output: Buffer.alloc(300, 'a') })
  assert.equal(unpackZstd(withWindow(28), 300).type, 'corrupt')
})
