import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConsoleLogOptions, consoleLogSink } from './console-log-sink.ts'

function linesOf(options: ConsoleLogOptions) {
  const lines: string[] = []
  return { lines, sink: consoleLogSink({ ...options, write: line => lines.push(line) }) }
}

test('a person reads time, level, message and the fields, on one line', () => {
  const { lines, sink } = linesOf({})
  sink.write('warn', 'the disk\nis full', {
    path: '/data/a b',
    freeBytes: 0,
    none: undefined,
    list: [1, 2],
    quote: 'a="b"',
  })
  assert.equal(lines.length, 1)
  assert.match(
    lines[0] ?? '',
    /^\d{4}-\d\d-\d\dT[\d:.]+Z WARN {2}the disk is full path="\/data\/a b" freeBytes=0 list=\[1,2\] quote="a=\\"b\\""\n$/,
  )
})

test('lines below the level are left out', () => {
  const { lines, sink } = linesOf({ level: 'warn' })
  for (const level of ['debug', 'info', 'warn', 'error'] as const) sink.write(level, level)
  assert.equal(lines.length, 2)
})
