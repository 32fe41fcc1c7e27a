import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { api } from '../../test/end-to-end/api.ts'
import { RawClient } from '../../test/end-to-end/raw-client.ts'
import { StartError } from '../broker/start-error.ts'
import { startBroker } from './index.ts'

const allTopics = { topics: null, allowAutoTopicCreation: false }

test('a client can connect and finds the topics that were asked for', async () => {
  await using broker = await startBroker({ topics: { orders: 3, 'orders.dead': 1 } })
  using client = await RawClient.connect({ port: broker.port })
  const { topics, brokers } = await client.call(api.metadata, 12, allTopics)
  assert.deepEqual(
    topics.map(({ name, partitions }) => [name, partitions.map(partition => partition.leaderId)]).sort(),
    [
      ['orders', [1, 1, 1]],
      ['orders.dead', [1]],
    ],
  )
  assert.deepEqual(
    brokers.map(({ host, port }) => `${host}:${port}`),
    [broker.bootstrapServers],
  )
})

test('localhost is reached by both families', async () => {
  await using broker = await startBroker()
  for (const host of ['127.0.0.1', '::1']) {
    using client = await RawClient.connect({ port: broker.port, host })
    const { errorCode } = await client.call(api.apiVersions, 0, {})
    assert.equal(errorCode, 0)
  }
})

test('several brokers in one process know nothing of one another', async () => {
  await using first = await startBroker({ topics: { first: 1 } })
  await using second = await startBroker({ topics: { second: 1 } })
  assert.notEqual(first.port, second.port)
  assert.notEqual(first.clusterId, second.clusterId)
  for (const [broker, topic] of [
    [first, 'first'],
    [second, 'second'],
  ] as const) {
    using client = await RawClient.connect({ port: broker.port })
    const { topics } = await client.call(api.metadata, 12, allTopics)
    assert.deepEqual(
      topics.map(({ name }) => name),
      [topic],
    )
  }
})

test('settings are overridden', async () => {
  await using broker = await startBroker({ overrides: { 'num.partitions': '7', 'node.id': '42' } })
  using client = await RawClient.connect({ port: broker.port })
  const { brokers, topics } = await client.call(api.metadata, 12, {
    topics: [{ name: 'made' }],
    allowAutoTopicCreation: true,
  })
  assert.equal(brokers[0].nodeId, 42)
  assert.equal(topics[0].partitions.length, 7)
})

test('the directory goes when the broker is closed, and one that was given stays', async () => {
  const broker = await startBroker({ topics: { orders: 1 } })
  assert.ok(existsSync(join(broker.directory, 'orders-0')))
  await Promise.all([broker.close(), broker.close()])
  assert.equal(existsSync(broker.directory), false)

  const own = mkdtempSync(join(tmpdir(), 'millrace-own-'))
  const kept = await startBroker({ topics: { orders: 1 }, overrides: { 'log.dirs': own } })
  await kept.close()
  assert.ok(existsSync(join(own, 'orders-0')))
  await using again = await startBroker({ topics: { orders: 1 }, overrides: { 'log.dirs': own } })
  assert.equal(again.directory, own)
  await again.close()
  rmSync(own, { recursive: true })
})

test('a closed broker takes its connections with it', async () => {
  const broker = await startBroker()
  using client = await RawClient.connect({ port: broker.port })
  await client.call(api.apiVersions, 0, {})
  await broker.close()
  await client.closed()
  await assert.rejects(RawClient.connect({ port: broker.port }), { code: 'ECONNREFUSED' })
})

test('a process that closes its brokers ends by itself, and says nothing', () => {
  using temporary = emptyTemporaryDirectory()
  const script = `
    import { startBroker } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))}
    const brokers = await Promise.all([startBroker({ topics: { a: 1 } }), startBroker()])
    await using third = await startBroker()
    await Promise.all(brokers.map(broker => broker.close()))
  `
  const { status, stderr, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.deepEqual({ status, stderr, stdout }, { status: 0, stderr: '', stdout: '' })
  assert.deepEqual(temporary.names(), [])
})

test('settings and topics that cannot be reject, and leave nothing behind', async () => {
  using temporary = emptyTemporaryDirectory()
  await assert.rejects(startBroker({ overrides: { 'num.partitions': 'many' } }), StartError)
  await assert.rejects(startBroker({ topics: { 'no/name': 1 } }), /topic no\/name could not be created/)
  await assert.rejects(startBroker({ topics: { none: 0 } }), StartError)
  await using broker = await startBroker()
  const overrides = { listeners: `PLAINTEXT://127.0.0.1:${broker.port}` }
  await assert.rejects(startBroker({ overrides }), /listeners: .*another program listens there/)
  const kept = join(temporary.path, 'kept')
  await assert.rejects(startBroker({ overrides: { ...overrides, 'log.dirs': kept } }), StartError)
  assert.ok(!existsSync(kept), 'nothing is formatted by a start that cannot listen')
  await broker.close()
  assert.deepEqual(temporary.names(), [])
})

test('a slip in an option is told, and nothing is started', async () => {
  using temporary = emptyTemporaryDirectory()
  // @ts-expect-error: the types know it
  const unknown = startBroker({ topcis: { orders: 3 } })
  await assert.rejects(unknown, {
    name: 'TypeError',
    message: 'startBroker: there is no option topcis: did you mean topics?',
  })
  // @ts-expect-error: the types know it
  const other = startBroker({ port: 9092 })
  await assert.rejects(other, { message: 'startBroker: there is no option port: there are topics, overrides, log' })
  // @ts-expect-error: the types know it
  const level = startBroker({ log: 'warning' })
  await assert.rejects(level, { name: 'TypeError', message: /log: "warning" is none of debug, info, warn, error/ })
  // @ts-expect-error: the types know it
  const number = startBroker({ overrides: { 'num.partitions': 3 } })
  await assert.rejects(number, { name: 'TypeError', message: /overrides: num\.partitions: 3 is no text/ })
  // @ts-expect-error: the types know it
  const list = startBroker({ topics: ['orders'] })
  await assert.rejects(list, { name: 'TypeError', message: /topics: 0: "orders" is no number of partitions/ })
  assert.deepEqual(temporary.names(), [])
})

test('a setting that does not exist is warned of, as by the command, and ignored', async () => {
  const warned = once(process, 'warning')
  const lines: string[] = []
  const log = { write: (level: string, message: string) => void lines.push(`${level} ${message}`) }
  await using broker = await startBroker({ overrides: { 'num.partition': '7', 'num.io.threads': '3' }, log })
  assert.ok(broker.port > 0)
  const text = 'num.partition is not a setting of Kafka 4.4 or Millrace and is ignored; did you mean num.partitions?'
  const [{ code, message }] = await warned
  assert.deepEqual([code, message], ['MILLRACE_UNKNOWN_SETTING', `startBroker: overrides: ${text}`])
  const inert =
    'without effect, since one broker is one event loop and sizes its queues and its pool itself: num.io.threads'
  assert.deepEqual(
    lines.filter(line => line.startsWith('warn')),
    [`warn --override: ${text}`, `warn ${inert}`],
  )
})

test('a broker whose directory fails stops itself and says so', async () => {
  const lines: string[] = []
  const log = { write: (_level: string, message: string) => void lines.push(message) }
  await using broker = await startBroker({ log })
  using waiting = await RawClient.connect({ port: broker.port })
  await waiting.call(api.apiVersions, 0, {})
  const failed = once(broker, 'failed')
  breakFile(join(broker.directory, '__cluster_metadata-0', `${'0'.repeat(20)}.log`))
  using client = await RawClient.connect({ port: broker.port })
  client.send(api.createTopics.request, 7, {
    topics: [{ name: 'late', numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }],
  })
  const [reason] = (await failed) as [Error]
  assert.match(reason.message, /metadata directory/)
  assert.ok(lines.some(line => line.startsWith('the broker stops: ')))
  await Promise.all([waiting.closed(), client.closed()])
  assert.equal(existsSync(broker.directory), false)
})

/** Others on this machine make directories too: until disposed of, ours and our children's are made in this one. */
function emptyTemporaryDirectory() {
  const before = process.env.TMPDIR
  const path = mkdtempSync(join(tmpdir(), 'millrace-testing-'))
  process.env.TMPDIR = path
  return {
    path,
    names: () => readdirSync(path),
    [Symbol.dispose]() {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
      rmSync(path, { recursive: true })
    },
  }
}

/** Lets the next write to an open file of this process fail: its descriptor then belongs to one that is open for reading. */
function breakFile(path: string): void {
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name)
    if (!isOpenFile(descriptor, path)) continue
    closeSync(descriptor)
    assert.equal(openSync('/dev/null', 'r'), descriptor)
    return
  }
  assert.fail(`${path} is not open`)
}

function isOpenFile(descriptor: number, path: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`) === path
  } catch {
    return false
  }
}
