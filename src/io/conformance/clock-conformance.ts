import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Clock } from '../clock.ts'
import { inHarness, type MakeHarness, watchTurn } from './harness.ts'

/** What every `Clock` must do. */
export function clockConformance(name: string, make: MakeHarness<Clock>): void {
  const clockTest = (title: string, body: (clock: Clock) => Promise<void>) => test(title, inHarness(make, body))
  const wait = (clock: Clock, delayMs: number) => new Promise<void>(resolve => void clock.after(delayMs, resolve))

  describe(`${name} as a clock`, () => {
    clockTest('wall time is whole milliseconds of this century', async clock => {
      const { wallMs } = clock.now()
      assert.ok(Number.isInteger(wallMs))
      assert.ok(wallMs > 1_600_000_000_000 && wallMs < 4_100_000_000_000)
    })

    clockTest('a timer runs in a later turn and never early', async clock => {
      for (const delayMs of [-5, 0, 0.4, 1, 1.5, 7]) {
        const turn = watchTurn()
        const startMs = clock.now().monotonicMs
        await new Promise<void>(resolve => {
          clock.after(delayMs, () => {
            assert.ok(turn.isOver())
            resolve()
          })
        })
        assert.ok(clock.now().monotonicMs >= startMs + delayMs)
      }
    })

    clockTest('the shorter of two timers runs first', async clock => {
      const order: string[] = []
      await new Promise<void>(resolve => {
        clock.after(60, () => {
          order.push('long')
          resolve()
        })
        clock.after(5, () => order.push('short'))
      })
      assert.deepEqual(order, ['short', 'long'])
    })

    clockTest('a cancelled timer never runs, and cancelling again is harmless', async clock => {
      let ran = 0
      const cancelled = clock.after(5, () => ran++)
      const kept = clock.after(5, () => ran++)
      cancelled.cancel()
      cancelled.cancel()
      await wait(clock, 30)
      kept.cancel()
      assert.equal(ran, 1)
    })

    clockTest('a delay beyond 2^31 ms does not run at once', async clock => {
      let ran = 0
      const far = clock.after(2 ** 40, () => ran++)
      await wait(clock, 20)
      far.cancel()
      assert.equal(ran, 0)
    })

    clockTest('an endless delay never ends, and may be cancelled', async clock => {
      let ran = 0
      const never = clock.after(Number.POSITIVE_INFINITY, () => ran++)
      await wait(clock, 20)
      never.cancel()
      assert.equal(ran, 0)
    })

    clockTest('turn callbacks run in order, in a later turn', async clock => {
      const order: number[] = []
      const turn = watchTurn()
      await new Promise<void>(resolve => {
        for (const number of [1, 2, 3])
          clock.nextTurn(() => {
            assert.ok(turn.isOver())
            order.push(number)
            if (number === 3) resolve()
          })
      })
      assert.deepEqual(order, [1, 2, 3])
    })

    clockTest('a callback given by a turn callback waits for the turn after', async clock => {
      const order: string[] = []
      await new Promise<void>(resolve => {
        clock.nextTurn(() => {
          order.push('first')
          clock.nextTurn(() => {
            order.push('inner')
            resolve()
          })
        })
        clock.nextTurn(() => order.push('second'))
      })
      assert.deepEqual(order, ['first', 'second', 'inner'])
    })

    clockTest('work that yields lets timers run', async clock => {
      let ran = false
      clock.after(1, () => {
        ran = true
      })
      const startMs = clock.now().monotonicMs
      while (!ran && clock.now().monotonicMs < startMs + 5000) await clock.yieldTurn()
      assert.ok(ran)
    })
  })
}
