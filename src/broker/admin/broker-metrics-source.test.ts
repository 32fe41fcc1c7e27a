import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BrokerHost, onBrokerHost } from '../fixture.test.ts'
import { BrokerMetricsSource } from './broker-metrics-source.ts'
import { readScrape } from './scrape.ts'
import { Slices } from './slices.ts'

const options = { logDirs: ['/data', '/more'] }

/** `second` lies in /more. */
async function fill(host: BrokerHost): Promise<void> {
  await host.start()
  for (const topic of ['first', 'second']) {
    await host.createTopic(topic)
    await host.produce(topic)
  }
}

/** Whoever scrapes has a clock and a disk of its own. */
function scraperOf(host: BrokerHost) {
  const { disk, clock } = host.world.addNode('scraper').start()
  return () => {
    const source = new BrokerMetricsSource({ broker: host.broker, disk, clock, build: { version: '', node: '' } })
    return readScrape(source, new Slices(clock))
  }
}

test('a partition whose directory fails is an offline replica, before and after a restart', () =>
  onBrokerHost(options, async host => {
    await fill(host)
    const scrape = scraperOf(host)
    const { counts } = await scrape()
    assert.deepEqual([counts.partitions, counts.led, counts.offline], [2, 2, 0])
    host.node.disk.faults.failNext('append', 'io', { pathEnd: '/more/second-0/00000000000000000000.log' })
    await host.produce('second')
    assert.deepEqual((await scrape()).counts.offline, 1)
    await host.close()

    host.node.disk.faults.failNext('list', 'io', { pathEnd: '/more', times: 2 })
    await host.start()
    const later = await scrape()
    assert.deepEqual([later.counts.partitions, later.counts.offline], [2, 1])
    await host.close()
  }))
