import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedTask } from './shared-task.ts'

/** A task whose runs are ended by hand, and that counts how many go on at once. */
function observed() {
  const ends: PromiseWithResolvers<void>[] = []
  let running = 0
  let most = 0
  const task = new SharedTask(async () => {
    running++
    most = Math.max(most, running)
    const end = Promise.withResolvers<void>()
    ends.push(end)
    try {
      await end.promise
    } finally {
      running--
    }
  })
  return { task, ends, most: () => most }
}

const someMicrotasks = 20

test('whoever asks just when a run ends does not start another beside the next', async () => {
  for (let delay = 0; delay < someMicrotasks; delay++) {
    const { task, ends, most } = observed()
    const first = task.run()
    const second = task.run()
    ends[0].resolve()
    for (let turn = 0; turn < delay; turn++) await undefined
    const third = task.run()
    for (let turn = 0; turn < someMicrotasks; turn++) {
      await undefined
      for (const end of ends) end.resolve()
    }
    await Promise.all([first, second, third])
    assert.equal(most(), 1, `after ${delay} microtasks`)
  }
})

test('a run that fails fails those who asked before it began, and not those who asked meanwhile', async () => {
  const { task, ends } = observed()
  const first = task.run()
  const second = task.run()
  ends[0].reject(new Error('no'))
  await assert.rejects(first, /no/)
  while (ends.length < 2) await undefined
  ends[1].resolve()
  await second
})

test('a run serves all who asked while the one before it went on', async () => {
  const { task, ends } = observed()
  const all = [task.run(), task.run(), task.run(), task.run()]
  ends[0].resolve()
  while (ends.length < 2) await undefined
  ends[1].resolve()
  await Promise.all(all)
  assert.equal(ends.length, 2)
})
