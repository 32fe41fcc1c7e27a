import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineSplitter, maxLineBytes } from './line-splitter.ts'

function linesOf(...pieces: (string | Buffer)[]): string[] {
  const splitter = new LineSplitter()
  const lines = pieces.flatMap(piece => splitter.push(Buffer.from(piece as string)))
  return [...lines, ...splitter.end()].map(line => line.toString('latin1'))
}

test('lines end with \\n or \\r\\n, and the last one needs no end', () => {
  assert.deepEqual(linesOf('a\nb\r\n\nc'), ['a', 'b', '', 'c'])
  assert.deepEqual(linesOf('a\n'), ['a'])
  assert.deepEqual(linesOf('\n'), [''])
  assert.deepEqual(linesOf(), [])
})

test('a line may come in any number of pieces', () => {
  assert.deepEqual(linesOf('a', 'b', 'c\nd', '\r', '\n', 'e'), ['abc', 'd', 'e'])
})

test('what is in a line stays as it is, text or not', () => {
  assert.deepEqual(linesOf('a\rb\n'), ['a\rb'])
  assert.deepEqual(linesOf('a\u2028b\n'), [Buffer.from('a\u2028b').toString('latin1')])
  assert.deepEqual(linesOf(Buffer.from([0xff, 0, 0xfe, 0x0a, 0xc3])), ['\xff\0\xfe', '\xc3'])
})

test('a line that does not end is too long at some point', () => {
  const splitter = new LineSplitter()
  const piece = Buffer.alloc(maxLineBytes / 2)
  splitter.push(piece)
  splitter.push(piece)
  assert.equal(splitter.isLineTooLong, false)
  splitter.push(Buffer.from('x'))
  assert.equal(splitter.isLineTooLong, true)
  splitter.push(Buffer.from('\n'))
  assert.equal(splitter.isLineTooLong, false)
})
