import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type RunningBroker, startBroker } from '../../src/broker/start.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import type { LogSink } from '../../src/io/log-sink.ts'
import { Patience } from '../compatibility/patience.ts'
import { api } from './api.ts'
import { RawClient } from './raw-client.ts'
import { batchOf, createTopic, type Place, produce } from './requests.ts'

const patienceMs = 30_000
const cleaner = 'kafka_log_logcleaner_'
const manager = 'kafka_log_logcleanermanager_'
const configs = { 'cleanup.policy': 'compact', 'segment.ms': '1', 'min.cleanable.dirty.ratio': '0.01' }

async function start(directory: string, log: LogSink): Promise<RunningBroker> {
  const overrides = [
    ...[`log.dirs=${directory}`, 'listeners=PLAINTEXT://127.0.0.1:0', 'millrace.admin.listener=127.0.0.1:0'],
    // The smallest that there is: room for 43,690 keys.
    ...['log.cleaner.backoff.ms=50', 'log.cleaner.dedupe.buffer.size=1048577'],
  ]
  const loaded = loadConfig({ overrides, environment: {} })
  assert.ok(loaded.type === 'loaded')
  return await startBroker({
    ...{ loaded, log, formatsEmptyDirectories: true },
    failed: reason => assert.fail(reason),
  })
}

/** Name with labels to value, as Prometheus reads them. */
async function scrape({ adminPort }: RunningBroker): Promise<Map<string, number>> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`)
  assert.equal(response.status, 200)
  const lines = (await response.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(lines.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

async function until(running: RunningBroker, isReached: (metrics: Map<string, number>) => boolean) {
  using patience = new Patience(patienceMs)
  for (;;) {
    const metrics = await scrape(running)
    if (isReached(metrics)) return metrics
    const ours = [...metrics].filter(([name]) => /cleaner|compaction/.test(name))
    assert.ok(!patience.isOver, JSON.stringify(ours))
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

/** Each batch ends up in a segment of its own; the last is the active one. */
async function write(client: RawClient, place: Place, keys: readonly (readonly string[])[]): Promise<void> {
  const nowMs = Date.now()
  for (const [index, some] of keys.entries()) {
    for (const key of some) {
      const batch = batchOf(['x'.repeat(100)], { key, timestamp: nowMs + index * 10 })
      assert.equal((await produce(client, place, batch)).errorCode, 0)
    }
  }
}

async function setConfig(client: RawClient, topic: string, name: string, value: string): Promise<void> {
  const { responses } = await client.call(api.incrementalAlterConfigs, 1, {
    resources: [{ resourceType: 2, resourceName: topic, configs: [{ name, configOperation: 0, value }] }],
    validateOnly: false,
  })
  assert.equal(responses[0].errorCode, 0)
}

function range(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => `key-${from + index}`)
}

test('the metrics of compaction say what passes did, what is dirty and what cannot be compacted', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-compaction-metrics-'))
  const lines: string[] = []
  const running = await start(directory, { write: (_level, message) => void lines.push(message) })
  try {
    using client = await RawClient.connect({ port: running.broker.listeners[0].port })
    const uncleanableCount = `${manager}uncleanable_partitions_count{logDirectory="${directory}"}`
    const uncleanableBytes = `${manager}uncleanable_bytes{logDirectory="${directory}"}`
    const before = await scrape(running)
    for (const name of [
      ...['cleaner_recopy_percent', 'max_buffer_utilization_percent', 'max_clean_time_secs'].map(one => cleaner + one),
      ...[`${cleaner}max_compaction_delay_secs`, `${cleaner}deadthreadcount`, `${manager}max_dirty_percent`],
      ...[uncleanableCount, uncleanableBytes, 'millrace_compaction_runs_total'],
    ]) {
      assert.equal(before.get(name), 0, name)
    }

    // 900 keys, of which 300 are written again: 1,200 records in, 900 of equal size left.
    const clean = await createTopic(client, 'clean', { configs: { ...configs, 'min.cleanable.dirty.ratio': '1' } })
    await write(client, clean, [range(0, 900), range(0, 300), ['last']])
    const dirty = await until(running, metrics => metrics.get(`${manager}max_dirty_percent`) === 100)
    assert.equal(dirty.get('millrace_compaction_runs_total'), 0, 'only more than the ratio is enough')
    await setConfig(client, 'clean', 'min.cleanable.dirty.ratio', '0.01')
    const after = await until(running, metrics => (metrics.get('millrace_compaction_runs_total') ?? 0) >= 1)
    const read = after.get('millrace_compaction_bytes_total{direction="read"}') ?? 0
    const written = after.get('millrace_compaction_bytes_total{direction="written"}') ?? 0
    // All of it is read twice.
    assert.equal(Math.round((100 * written) / (read / 2)), 75)
    assert.equal(after.get(`${cleaner}cleaner_recopy_percent`), Math.floor((100 * written) / (read / 2)))
    // 900 of 43,690.
    assert.equal(after.get(`${cleaner}max_buffer_utilization_percent`), 2)
    const seconds = after.get('millrace_compaction_seconds_total') ?? 0
    assert.ok(seconds > 0 && seconds < patienceMs / 1000, `${seconds} s`)
    assert.equal(after.get(`${cleaner}max_clean_time_secs`), Math.floor(seconds))
    assert.equal(after.get(`${cleaner}max_compaction_delay_secs`), 0)
    const sinceMs = after.get(`${manager}time_since_last_run_ms`) ?? -1
    assert.ok(sinceMs >= 0 && sinceMs < patienceMs, `${sinceMs} ms`)
    await until(running, metrics => metrics.get(`${manager}max_dirty_percent`) === 0)

    const passes = lines.filter(text => / is compacted up to offset /.test(text))
    assert.equal(passes.length, after.get('millrace_compaction_runs_total'), passes.join('\n'))

    const broken = await createTopic(client, 'broken', { configs: { ...configs, 'min.cleanable.dirty.ratio': '1' } })
    await write(client, broken, [range(0, 10), range(0, 10), ['last']])
    const sizes = damage(join(directory, 'broken-0'))
    await setConfig(client, 'broken', 'min.cleanable.dirty.ratio', '0.01')
    const told = await until(running, metrics => metrics.get(uncleanableCount) === 1)
    assert.equal(told.get(uncleanableBytes), sizes)
    assert.equal(told.get('millrace_compaction_runs_total'), 1)
    assert.equal(told.get(`${cleaner}deadthreadcount`), 0)
    const [line, ...others] = lines.filter(text => /not compacted any more/.test(text))
    assert.match(line, /^broken-0 is not compacted any more: .*broken-0\/0{20}\.log is damaged at byte \d+: /)
    assert.deepEqual(others, [])
  } finally {
    await running.close()
    rmSync(directory, { recursive: true, force: true })
  }
})

/** Changes a byte of the first segment. The answer is how large all but the active one are. */
function damage(directory: string): number {
  const names = readdirSync(directory)
    .filter(name => name.endsWith('.log'))
    .sort()
  const file = openSync(join(directory, names[0]), 'r+')
  writeSync(file, Buffer.from('?'), 0, 1, 80)
  closeSync(file)
  return names.slice(0, -1).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
}
