import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonLogSink } from './json-log-sink.ts'

test('JSON lines hold fields of every kind and cannot hide the message', () => {
  const lines: string[] = []
  const sink = jsonLogSink('info', line => lines.push(line))
  sink.write('debug', 'left out')
  sink.write('error', 'failed', { message: 'hidden', offset: 12n, cause: new Error('why'), nothing: undefined })
  assert.equal(lines.length, 1)
  const { time, level, message, offset, cause, message_ } = JSON.parse(lines[0])
  assert.ok(!Number.isNaN(Date.parse(time)))
  assert.deepEqual([level, message, offset, message_], ['error', 'failed', '12', 'hidden'])
  assert.match(cause, /Error: why/)
})
