import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type RunningBroker, startBroker } from '../../src/broker/start.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { RawClient } from './raw-client.ts'
import { batchOf, createTopic, produce } from './requests.ts'

async function withBroker(use: (running: RunningBroker) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-metrics-'))
  const overrides = [
    ...[`log.dirs=${directory}`, 'listeners=PLAINTEXT://127.0.0.1:0', 'millrace.admin.listener=127.0.0.1:0'],
    'log.flush.interval.messages=1',
  ]
  const loaded = loadConfig({ overrides, environment: {} })
  assert.ok(loaded.type === 'loaded')
  const running = await startBroker({
    ...{ loaded, log: { write: () => undefined }, formatsEmptyDirectories: true },
    failed: reason => assert.fail(reason),
  })
  try {
    await use(running)
  } finally {
    await running.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function scrape({ adminPort }: RunningBroker): Promise<Map<string, number>> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`)
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  const lines = (await response.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(lines.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

const idle = 'kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent'
const written = 'kafka_server_kafkaserver_linux_disk_write_bytes'

test('metrics say what the process does: how idle its loop is, what it writes, what it is', () =>
  withBroker(async running => {
    using client = await RawClient.connect({ port: running.broker.listeners[0].port })
    const place = await createTopic(client, 't', { partitions: 3 })
    const before = await scrape(running)
    assert.equal(before.get('kafka_server_replicamanager_leadercount'), 3)
    assert.equal(before.get('kafka_controller_kafkacontroller_globalpartitioncount'), 3)
    assert.equal(before.get('kafka_controller_kafkacontroller_offlinepartitionscount'), 0)
    assert.equal(before.get('kafka_controller_kafkacontroller_preferredreplicaimbalancecount'), 0)
    assert.equal(
      [...before.keys()].filter(key =>
        /^millrace_build_info\{version="\d[^"]*",(revision="[0-9a-f]{40}",)?node="\d/.test(key),
      ).length,
      1,
    )
    assert.equal((await produce(client, place, batchOf(['x'.repeat(500_000)]))).errorCode, 0)
    const endMs = performance.now() + 500
    while (performance.now() < endMs); // Nobody else has a turn: that is what is measured.
    const after = await scrape(running)
    const [idleBefore, idleAfter] = [before.get(idle) ?? -1, after.get(idle) ?? -1]
    assert.ok(idleAfter >= 0 && idleAfter < 1, `${idleAfter}`)
    assert.ok(idleBefore <= 1 && idleAfter < Math.max(idleBefore, 0.9), `${idleBefore}, then ${idleAfter}`)
    if (!existsSync('/proc/self/io')) return
    // Synced, where the file system is on a disk: memory is never written.
    const [writtenBefore, writtenAfter] = [before.get(written) ?? -1, after.get(written) ?? -1]
    assert.ok(writtenBefore >= 0 && writtenAfter >= writtenBefore, `${writtenBefore}, then ${writtenAfter}`)
  }))

test('a reader that goes in the middle of a scrape, and one that only asks for the head, do no harm', () =>
  withBroker(async running => {
    using client = await RawClient.connect({ port: running.broker.listeners[0].port })
    await createTopic(client, 'many', { partitions: 1500 })
    const port = running.adminPort!
    for (let times = 0; times < 3; times++) {
      const socket = connect(port, '127.0.0.1')
      await new Promise(resolve => socket.once('connect', resolve))
      socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n')
      await new Promise(resolve => socket.once('data', resolve))
      socket.destroy()
    }
    const head = await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    const values = await scrape(running)
    assert.equal(values.get('kafka_server_replicamanager_partitioncount'), 1500)
    assert.equal(values.get('kafka_log_log_logendoffset{topic="many",partition="1499"}'), 0)
  }))
