import assert from 'node:assert/strict'
import { test } from 'node:test'
import { World } from '../simulator/io/world.ts'
import { RepeatedLines } from './repeated-lines.ts'

test('a line is told once a minute, and a hundred of them', async () => {
  const world = new World({ seed: 1 })
  const lines = new RepeatedLines(world.addNode('broker').start().clock)
  assert.equal(lines.isNew('a'), true)
  assert.equal(lines.isNew('a'), false)
  const told = Array.from({ length: 1000 }, (_, index) => lines.isNew(`line ${index}`)).filter(isNew => isNew)
  assert.equal(told.length, 99)
  await world.finish(world.sleep(60_000))
  assert.equal(lines.isNew('a'), true)
})
