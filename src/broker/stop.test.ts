import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { ErrorCode } from '../base/error-code.ts'
import type { DiskOperation } from '../simulator/io/disk-faults.ts'
import { type BrokerHost, onBrokerHost } from './fixture.test.ts'

const options = { logDirs: ['/data', '/more'] }
const has = (host: BrokerHost, pathEnd: string) =>
  host.node.disk.files().some(({ path }) => `/${path}`.endsWith(pathEnd))

/** `first` in /data, `second` in /more, a record in each. */
async function fill(host: BrokerHost): Promise<void> {
  await host.start()
  for (const topic of ['first', 'second']) {
    await host.createTopic(topic)
    assert.equal((await host.produce(topic)).errorCode, ErrorCode.none)
  }
}

/** What is in the files, but for what locks and times say. */
function contentsOf(host: BrokerHost): string {
  const files = host.node.disk.files().map(({ path, bytes }) => `${path} ${bytes.length} ${crc32(bytes)}`)
  return files.sort().join('\n')
}

async function checkNext(host: BrokerHost): Promise<void> {
  host.crash('kill')
  host.node.disk.faults.forgetOrdered()
  host.node.disk.faults.freeBytes = 2 ** 40
  await host.start()
  assert.ok(!has(host, '.tmp'))
  for (const topic of ['first', 'second']) assert.equal((await host.produce(topic)).baseOffset, 1)
  assert.equal(await host.broker.close(), true)
  assert.ok(has(host, '/more/.kafka_cleanshutdown'))
}

describe('a stop', () => {
  test('on a full disk says so in one line, and the next start finds all and tidies up', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      host.node.disk.faults.freeBytes = 10
      assert.equal(await host.broker.close(), false)
      assert.equal(host.linesWith('not all could be put in order').length, 1)
      assert.ok(!has(host, '.kafka_cleanshutdown'))
      await checkNext(host)
    }))

  const faults: [DiskOperation, string][] = [
    ['sync', '__cluster_metadata-0/millrace-offsets.tmp'],
    ['rename', '__cluster_metadata-0/millrace-offsets.tmp'],
    ['sync', '/more/second-0/00000000000000000000.timeindex'],
    ['write', '/more/log-start-offset-checkpoint.tmp'],
    ['rename', '/more/replication-offset-checkpoint.tmp'],
    ['sync', '/more/millrace-log-ends.tmp'],
    ['rename', '/more/.kafka_cleanshutdown.tmp'],
  ]
  for (const [operation, pathEnd] of faults) {
    test(`that fails (${operation} ${pathEnd}) says so, and the next start finds all`, () =>
      onBrokerHost(options, async host => {
        await fill(host)
        host.node.disk.faults.failNext(operation, 'io', { pathEnd })
        assert.equal(await host.broker.close(), false)
        assert.equal(host.linesWith('not all could be put in order').length, 1)
        const failed = pathEnd.startsWith('__cluster') ? '/data' : '/more'
        assert.ok(!has(host, `${failed}/.kafka_cleanshutdown`))
        if (operation !== 'write' && pathEnd.endsWith('.tmp'))
          assert.ok(has(host, pathEnd), 'there is something to tidy up')
        await checkNext(host)
      }))
  }

  test('after an invariant has broken writes nothing more and marks nothing, and the next start finds all', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      const before = contentsOf(host)
      host.broker.fail(new Error('an invariant is broken'))
      assert.equal(await host.broker.close(), false)
      assert.deepEqual(contentsOf(host), before)
      const lines = host.linesWith('not all could be put in order')
      assert.deepEqual([lines.length, lines[0]?.includes('the broker has failed')], [1, true])
      await checkNext(host)
    }))

  test('during which an invariant breaks marks nothing, whenever that is, and gives the locks back', async () => {
    let failures = 0
    for (let delayMs = 0; delayMs < 200; delayMs += 0.7 + delayMs / 50) {
      await onBrokerHost(options, async host => {
        await fill(host)
        const closing = host.broker.close()
        let isOver = false
        closing.finally(() => {
          isOver = true
        })
        await host.world.sleep(delayMs)
        if (isOver) return
        failures++
        host.broker.fail(new Error('an invariant is broken'))
        assert.equal(await closing, false)
        assert.ok(!has(host, '.kafka_cleanshutdown'), `after ${delayMs} ms`)
        await checkNext(host)
      })
    }
    assert.ok(failures > 10, 'the stop takes a while')
  })

  test('that succeeds says nothing', () =>
    onBrokerHost(options, async host => {
      await fill(host)
      assert.equal(await host.broker.close(), true)
      assert.equal(host.linesWith('put in order').length, 0)
      await checkNext(host)
    }))
})
