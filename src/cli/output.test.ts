import assert from 'node:assert/strict'
import { test } from 'node:test'
import { table } from './output.ts'

test('columns are aligned', () => {
  assert.equal(
    table(
      ['group', 'state'],
      [
        ['a', 'Empty'],
        ['longer', null],
      ],
    ),
    'GROUP   STATE\na       Empty\nlonger  -',
  )
})

test('one very long name does not make every line as long', () => {
  const long = 'g'.repeat(30_000)
  const rows = Array.from({ length: 20_000 }, (_, index) => [`group-${index}`, 'Empty'])
  const text = table(['group', 'state'], [...rows, [long, 'Empty']])
  assert.ok(text.length < 1_000_000, `${text.length} characters`)
  assert.ok(text.endsWith(`group-19999  Empty\n${long}  Empty`))
})
