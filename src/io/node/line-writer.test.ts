import assert from 'node:assert/strict'
import { PassThrough, Writable } from 'node:stream'
import { test } from 'node:test'
import { droppedText, lineWriter } from './line-writer.ts'

const options = { dropped: (count: number) => `${droppedText(count)}\n`, maxWaitingBytes: 1000 }

test('lines that nobody reads are dropped above the bound, and counted', () => {
  const stream = new PassThrough({ highWaterMark: 100 })
  const write = lineWriter(stream, options)
  for (let count = 0; count < 1000; count++) write(`line ${count}\n`)
  assert.ok(stream.writableLength <= 1010)
  const kept = textOf(stream).trimEnd().split('\n')
  assert.deepEqual([kept[0], kept.at(-1)], ['line 0', `line ${kept.length - 1}`])
  write('line 1000\n')
  const dropped = `${1000 - kept.length} lines of the log were dropped: nobody read them in time\n`
  assert.equal(textOf(stream), `${dropped}line 1000\n`)
  write('line 1001\n')
  assert.equal(textOf(stream), 'line 1001\n')
})

test('a line to a stream that has ended ends nothing', () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) })
  stream.on('error', () => undefined)
  const write = lineWriter(stream, options)
  for (let count = 0; count < 10; count++) write('line\n')
})

/** All that waits to be read. */
function textOf(stream: PassThrough): string {
  let text = ''
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) text += String(chunk)
  return text
}
