import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { configurationDocs } from '../scripts/configuration-docs.ts'

test('docs/configuration.md is what the declarations say (node scripts/configuration-docs.ts writes it)', () => {
  assert.equal(readFileSync('docs/configuration.md', 'utf8'), configurationDocs())
})
