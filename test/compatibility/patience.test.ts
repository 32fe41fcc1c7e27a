import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from './broker-process.ts'
import { Patience, withPatience } from './patience.ts'

/** As if the process were stopped: nothing of it runs. */
function stand(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function after(ms: number): Promise<string> {
  return new Promise(resolve => setTimeout(resolve, ms, 'came'))
}

test('what has come while this process stood still was not waited for in vain', async () => {
  const waiting = withPatience('it', after(900), 800)
  stand(1200)
  assert.equal(await waiting, 'came')
})

test('what does not come is named when the time is over, and its loop ends', async () => {
  await assert.rejects(withPatience('it', new Promise(() => undefined), 300), /^Error: waited 300 ms in vain for it$/)
  await assert.rejects(
    until('it', () => false, { timeoutMs: 300 }),
    /^Error: waited 300 ms in vain for it$/,
  )
  using patience = new Patience(300)
  assert.equal(patience.isOver, false)
  await patience.over
  assert.equal(patience.isOver, true)
})
