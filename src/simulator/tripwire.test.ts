// biome-ignore-all lint/style/noRestrictedGlobals: that these are caught is what is tested here
import assert from 'node:assert/strict'
import * as crypto from 'node:crypto'
import { test } from 'node:test'
import { gunzipSync, gzip, gzipSync } from 'node:zlib'
import { World } from './io/world.ts'
import { Tripwire } from './tripwire.ts'

/** Runs the body under an armed tripwire and answers what it caught. */
async function caughtIn(body: () => unknown): Promise<string> {
  const tripwire = Tripwire.arm()
  try {
    await body()
    tripwire.assertUntouched()
    return ''
  } catch (error) {
    return String(error)
  } finally {
    tripwire.disarm()
  }
}

const forbidden: Record<string, () => unknown> = {
  'Date.now': () => Date.now(),
  'new Date()': () => new Date(),
  'Date()': () => Date(),
  'performance.now': () => performance.now(),
  'process.hrtime': () => process.hrtime(),
  'process.hrtime.bigint': () => process.hrtime.bigint(),
  'Math.random': () => Math.random(),
  setTimeout: () => setTimeout(() => undefined, 0),
  setInterval: () => setInterval(() => undefined, 1),
  setImmediate: () => setImmediate(() => undefined),
  'crypto.randomBytes': () => crypto.randomBytes(4),
  'crypto.randomUUID': () => crypto.randomUUID(),
  'crypto.getRandomValues': () => globalThis.crypto.getRandomValues(new Uint8Array(4)),
  'node:fs': () => process.getBuiltinModule('node:fs'),
}

for (const [what, use] of Object.entries(forbidden))
  test(`${what} is caught, also when the error is swallowed`, async () => {
    assert.match(await caughtIn(use), /is not to be used in a simulated world/)
    const swallowed = () => {
      try {
        use()
      } catch {
        // As code does that takes any error for one it expected: the tripwire must tell all the same.
      }
    }
    assert.match(await caughtIn(swallowed), /TripwireTouched/)
  })

test('work for the thread pool is caught, the same work done at once is not', async () => {
  assert.match(await caughtIn(() => gzip('x', () => undefined)), /type ZLIB/)
  assert.match(await caughtIn(() => crypto.pbkdf2('a', 'b', 1, 8, 'sha256', () => undefined)), /PBKDF2REQUEST/)
  const atOnce = () => {
    gunzipSync(gzipSync('x'))
    crypto.pbkdf2Sync('a', 'b', 1, 8, 'sha256')
    crypto.createHmac('sha256', 'key').update('x').digest()
  }
  assert.equal(await caughtIn(atOnce), '')
})

test('modules of the real world cannot be imported from our sources', async () => {
  assert.match(await caughtIn(() => import('node:dns')), /node:dns \(imported by .*tripwire.test.ts\)/)
  assert.equal(await caughtIn(() => import('../io/node/node-disk.ts')), '')
  const theirs = encodeURIComponent("export default await import('node:fs')")
  assert.equal(await caughtIn(() => import(`data:text/javascript,${theirs}`)), '')
})

test('a simulated world with all its parts touches nothing, and dates are still formatted', async () => {
  const live = async () => {
    const world = new World({ seed: 1 })
    const node = world.addNode('node')
    const { clock, disk, network, compute, random } = node.start()
    const body = async () => {
      const file = disk.open('/log', 'create')
      await new Promise(resolve => file.append([random.bytes(10)], resolve))
      await file.sync()
      await compute.run({ type: 'compress', codec: 4, level: undefined, input: Buffer.alloc(100) })
      const listener = await network.listen({ host: 'node', port: 0 }, { accept: () => undefined })
      await network.connect(listener.endpoint, { timeoutMs: 100 })
      await new Promise<void>(resolve => void clock.after(5, resolve))
      assert.equal(new Date(clock.now().wallMs).getUTCFullYear(), 2026)
    }
    await world.finish(body())
    node.crash('power')
    await world.advance(1000)
  }
  assert.equal(await caughtIn(live), '')
})

test('everything is as before once it is disarmed', async () => {
  const before = [Date, setTimeout, Math.random, performance.now, crypto.randomBytes, process.getBuiltinModule]
  await caughtIn(() => undefined)
  assert.deepEqual(
    [Date, setTimeout, Math.random, performance.now, crypto.randomBytes, process.getBuiltinModule],
    before,
  )
  assert.ok(Date.now() > 0 && Math.random() < 1 && crypto.randomBytes(4).length === 4)
})
