import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExpositionParser } from './exposition-parser.ts'

const help = '# HELP a_b Some words.\n# TYPE a_b counter\n'
for (const [what, text] of [
  ['no end of the last line', `${help}a_b 1`],
  ['no TYPE', '# HELP a_b Some words.\na_b 1\n'],
  ['no HELP', '# TYPE a_b counter\na_b 1\n'],
  ['an unknown type', '# HELP a_b Some words.\n# TYPE a_b number\na_b 1\n'],
  ['a sample of another family', `${help}a_c 1\n`],
  ['a family in two places', `${help}a_b 1\n${help.replaceAll('a_b', 'c')}c 1\na_b{x="1"} 1\n`],
  ['a family told twice', `${help}a_b 1\n${help}a_b{x="1"} 1\n`],
  ['a series twice', `${help}a_b{x="1",y="2"} 1\na_b{y="2",x="1"} 1\n`],
  ['a label twice', `${help}a_b{x="1",x="2"} 1\n`],
  ['a label without quotes', `${help}a_b{x=1} 1\n`],
  ['an escape that is none', `${help}a_b{x="\\t"} 1\n`],
  ['a quote in a label', `${help}a_b{x="a"b"} 1\n`],
  ['no comma between labels', `${help}a_b{x="1"y="2"} 1\n`],
  ['a name with a dash', `${help}a_b{x-y="1"} 1\n`],
  ['no value', `${help}a_b \n`],
  ['a value that is no number', `${help}a_b undefined\n`],
  ['a counter below 0', `${help}a_b -1\n`],
] as const) {
  test(`the reader of metrics takes no text with ${what}`, () => {
    assert.throws(() => ExpositionParser.parse(text), assert.AssertionError)
  })
}

test('the reader of metrics takes all that the format has', () => {
  const parsed = ExpositionParser.parse(`${help}a_b 1\na_b{x="a\\"\\\\\\n,}",y=""} 1.5e3\n\n# more words\n`)
  assert.deepEqual([parsed.value('a_b'), parsed.value('a_b', { y: '', x: 'a"\\\n,}' })], [1, 1500])
})
