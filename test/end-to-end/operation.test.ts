import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { startBroker as startRunning } from '../../src/broker/start.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { startBroker } from '../../src/testing/start-broker.ts'
import { freePorts } from '../compatibility/free-port.ts'
import { MillraceProcess } from '../compatibility/millrace-process.ts'
import { Patience } from '../compatibility/patience.ts'
import { inDirectory } from '../compatibility/temporary-directory.ts'
import { api } from './api.ts'
import { ExpositionParser } from './exposition-parser.ts'
import { RawClient } from './raw-client.ts'
import { batchOf, createTopic, fetch as fetchRecords, produce, recordsOf, soleMember } from './requests.ts'
import { untilCoordinated } from './typical-requests.ts'

const patienceMs = 30_000

/** Undefined: nobody listens. */
async function get(port: number, path: string): Promise<string | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return `${response.status} ${(await response.text()).split('\n')[0]}`
  } catch {
    return undefined
  }
}

async function until(port: number, path: string, wanted: string): Promise<void> {
  using patience = new Patience(patienceMs)
  for (;;) {
    const answer = await get(port, path)
    if (answer === wanted) return
    assert.ok(!patience.isOver, `${path} answers ${answer}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

const notReady = '503 not ready: starting or stopping'

test('while it starts a broker is alive and not ready, and then it is ready', () =>
  inDirectory('millrace-ready', async dir => {
    const [admin] = await freePorts(1)
    const overrides = { 'millrace.admin.listener': `127.0.0.1:${admin}` }
    await using broker = await MillraceProcess.start({ dir, overrides })
    await until(admin, '/readyz', '200 ready')
    await broker.stop()
    assert.equal(await get(admin, '/livez'), undefined)
    // Without the metadata of its cluster it waits for a controller, and the start comes to no end.
    const metadata = join(broker.logDirs[0], '__cluster_metadata-0')
    renameSync(metadata, join(dir, 'away'))
    await broker.restart({ ready: false })
    await until(admin, '/livez', '200 alive')
    assert.equal(await get(admin, '/readyz'), notReady)
    assert.equal(await get(admin, '/metrics'), notReady)
    await broker.stop('SIGKILL')
    if (existsSync(metadata)) renameSync(metadata, join(dir, 'made'))
    renameSync(join(dir, 'away'), metadata)
    await broker.restart({ ready: false })
    await until(admin, '/readyz', '200 ready')
    assert.match(String(await get(admin, '/metrics')), /^200 # HELP /)
    await broker.stop()
  }))

test('while it stops a broker is alive and not ready, and its metrics say that it shuts down', () =>
  inDirectory('millrace-stopping', async dir => {
    const [admin] = await freePorts(1)
    const settings = [`log.dirs=${join(dir, 'data')}`, 'listeners=PLAINTEXT://127.0.0.1:0']
    const loaded = loadConfig({
      overrides: [...settings, `millrace.admin.listener=127.0.0.1:${admin}`],
      environment: {},
    })
    assert.ok(loaded.type === 'loaded')
    const running = await startRunning({
      ...{ loaded, log: { write: () => undefined }, formatsEmptyDirectories: true },
      failed: reason => assert.fail(reason),
    })
    try {
      using client = await RawClient.connect({ port: running.broker.listeners[0].port })
      // So many logs that closing them takes longer than asking.
      const place = await createTopic(client, 'many', { partitions: 150 })
      for (let partition = 0; partition < 150; partition++)
        assert.equal((await produce(client, { ...place, partition }, batchOf(['x']))).errorCode, 0)
      assert.equal(await get(admin, '/readyz'), '200 ready')
      const closing = running.close()
      const [ready, alive, metrics] = await Promise.all([
        get(admin, '/readyz'),
        get(admin, '/livez'),
        fetch(`http://127.0.0.1:${admin}/metrics`).then(response => response.text()),
      ])
      assert.equal(await closing, true)
      assert.deepEqual([ready, alive], [notReady, '200 alive'])
      assert.equal(ExpositionParser.parse(metrics).value('kafka_server_kafkaserver_brokerstate'), 7)
      assert.equal(await get(admin, '/livez'), undefined)
    } finally {
      await running.close()
    }
  }))

test('an embedded broker opens no port but that of its clients', {
  skip: !existsSync('/proc/self/net/tcp'),
}, async () => {
  // Where the admin port would be is taken: nobody minds.
  const squatter = createServer().listen(9644, '127.0.0.1')
  await Promise.race([once(squatter, 'listening'), once(squatter, 'error')])
  try {
    const before = listeningPorts()
    await using broker = await startBroker()
    const opened = [...listeningPorts()].filter(port => !before.has(port))
    assert.deepEqual(opened, [broker.port])
  } finally {
    squatter.close()
  }
})

/** Of this process: those of its descriptors that are sockets in the state of listening. */
function listeningPorts(): Set<number> {
  const inodes = new Set(
    readdirSync('/proc/self/fd').flatMap(fd => {
      try {
        return /socket:\[(\d+)\]/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1] ?? []
      } catch {
        return []
      }
    }),
  )
  const ports = new Set<number>()
  for (const file of ['tcp', 'tcp6']) {
    for (const line of readFileSync(`/proc/self/net/${file}`, 'utf8').split('\n').slice(1)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
      if (state === '0A' && inodes.has(inode)) ports.add(Number.parseInt(local.split(':')[1], 16))
    }
  }
  return ports
}

test('metrics can be read by the letter of their format, and move with what is done', async () => {
  await inDirectory('millrace-metrics', async dir => {
    const [admin] = await freePorts(1)
    const overrides = { 'millrace.admin.listener': `127.0.0.1:${admin}` }
    await using broker = await MillraceProcess.start({ dir, overrides })
    using client = await RawClient.connect({ port: Number(broker.bootstrap.split(':')[1]) })
    const topic = 'orders'
    const place = await createTopic(client, topic, { partitions: 2 })
    await untilCoordinated(client, 'readers')
    const member = await soleMember(client, 'readers', { topics: [topic] })
    const scrape = async () => {
      const response = await fetch(`http://127.0.0.1:${admin}/metrics`)
      assert.equal(response.status, 200)
      assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
      return ExpositionParser.parse(await response.text())
    }
    const before = await scrape()

    const batch = batchOf(['a', 'b', 'c'])
    for (let times = 0; times < 5; times++) assert.equal((await produce(client, place, batch)).errorCode, 0)
    assert.equal((await produce(client, { topic, partition: 7 }, batch)).errorCode, 3)
    const fetched = await fetchRecords(client, place, { offset: 6 })
    assert.equal(recordsOf(fetched.records).length, 9)
    await client.call(api.offsetCommit, 7, {
      ...{ groupId: 'readers', memberId: member.memberId, generationIdOrMemberEpoch: member.generationId },
      topics: [{ name: topic, partitions: [{ partitionIndex: 0, committedOffset: 4, committedMetadata: null }] }],
    })

    const after = await scrape()
    const moved = (name: string, labels: Record<string, string> = {}) => {
      const series = `${name}{${Object.entries(labels).map(([label, value]) => `${label}="${value}"`)}}`
      return after.value(name, labels) - (before.values.get(series) ?? 0)
    }
    const ofTopics = 'kafka_server_brokertopicmetrics_'
    for (const labels of [{ topic }, {}] as Record<string, string>[]) {
      assert.equal(moved(`${ofTopics}messagesin_total`, labels), 15)
      assert.equal(moved(`${ofTopics}bytesin_total`, labels), 5 * batch.length)
      assert.equal(moved(`${ofTopics}bytesout_total`, labels), 3 * batch.length)
      assert.equal(moved(`${ofTopics}totalfetchrequests_total`, labels), 1)
    }
    assert.equal(moved(`${ofTopics}failedproducerequests_total`), 1)
    const requests = 'kafka_network_requestmetrics_requests_total'
    assert.equal(moved(requests, { request: 'Produce', version: '9' }), 6)
    assert.equal(moved(requests, { request: 'Fetch', version: '12' }), 1)
    assert.equal(moved(requests, { request: 'OffsetCommit', version: '7' }), 1)
    const errors = 'kafka_network_requestmetrics_errors_total'
    assert.equal(moved(errors, { error: 'NONE', request: 'Produce' }), 5)
    assert.equal(moved(errors, { error: 'UNKNOWN_TOPIC_OR_PARTITION', request: 'Produce' }), 1)
    assert.equal(moved('kafka_network_requestmetrics_totaltimems_count', { request: 'Produce' }), 6)
    assert.ok(moved('kafka_network_requestmetrics_requestbytes_total', { request: 'Produce' }) > 6 * batch.length)
    assert.ok(moved('kafka_network_requestmetrics_responsebytes_total', { request: 'Fetch' }) > 3 * batch.length)

    const first = { topic, partition: '0' }
    assert.equal(after.value('kafka_log_log_logendoffset', first), 15)
    assert.equal(after.value('kafka_log_log_logstartoffset', first), 0)
    assert.equal(after.value('kafka_log_log_size', first), 5 * batch.length)
    assert.equal(after.value('kafka_topic_partition_current_offset', first), 15)
    assert.equal(after.value('kafka_topic_partitions', { topic }), 2)
    const committed = { ...first, consumergroup: 'readers' }
    assert.equal(after.value('kafka_consumergroup_current_offset', committed), 4)
    assert.equal(after.value('kafka_consumergroup_lag', committed), 11)
    assert.equal(after.value('kafka_consumergroup_members', { consumergroup: 'readers' }), 1)
    assert.equal(after.value('kafka_server_kafkaserver_brokerstate'), 3)
    assert.equal(after.value('kafka_controller_kafkacontroller_activecontrollercount'), 1)
    for (const [name, type] of [
      [`${ofTopics}messagesin_total`, 'counter'],
      [requests, 'counter'],
      ['kafka_log_log_logendoffset', 'gauge'],
      ['kafka_consumergroup_lag', 'gauge'],
    ] as const)
      assert.equal(after.types.get(name), type, name)
    await broker.stop()
  })
})
