import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { TurnQueue } from './turn-queue.ts'

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn()
}

test('what is last runs after the callbacks of its turn and the promises that they settled', async () => {
  const queue = new TurnQueue()
  const ran: string[] = []
  queue.last(() => ran.push('last'))
  queue.next(() => {
    ran.push('first')
    queueMicrotask(() => {
      ran.push('settled')
      queue.last(() => ran.push('last of the promise'))
    })
  })
  queue.next(() => ran.push('second'))
  await turns(2)
  assert.deepEqual(ran, ['first', 'second', 'settled', 'last', 'last of the promise'])
})

test('a callback that is given by a callback runs in the next turn, after what is last in this one', async () => {
  const queue = new TurnQueue()
  const ran: string[] = []
  queue.next(() => {
    queue.next(() => {
      ran.push('next')
      queue.last(() => ran.push('last of the next'))
    })
    queue.last(() => ran.push('last'))
  })
  await turns(3)
  assert.deepEqual(ran, ['last', 'next', 'last of the next'])
})

test('what is given by something last runs in the next turn', async () => {
  const queue = new TurnQueue()
  const ran: string[] = []
  queue.last(() => {
    ran.push('last')
    queue.next(() => ran.push('next'))
    queue.last(() => ran.push('last of the next'))
  })
  await turns(3)
  assert.deepEqual(ran, ['last', 'next', 'last of the next'])
})

test('callbacks behind one that throws run all the same, and whoever listens is told', async () => {
  const told: unknown[] = []
  const queue = new TurnQueue(error => told.push(error))
  const ran: string[] = []
  const error = new Error('broken')
  queue.next(() => {
    throw error
  })
  queue.next(() => ran.push('next'))
  queue.last(() => {
    throw error
  })
  queue.last(() => ran.push('last'))
  await turns(3)
  assert.deepEqual(ran, ['next', 'last'])
  assert.deepEqual(told, [error, error])
})
