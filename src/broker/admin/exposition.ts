import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Clock } from '../../io/clock.ts'
import { compactionFamilies } from './families/compaction.ts'
import { controllerFamilies } from './families/controller.ts'
import { groupFamilies } from './families/groups.ts'
import { networkFamilies } from './families/network.ts'
import { partitionFamilies } from './families/partitions.ts'
import { processFamilies } from './families/process.ts'
import { replicaManagerFamilies } from './families/replica-manager.ts'
import { requestFamilies } from './families/requests.ts'
import { topicFamilies } from './families/topics.ts'
import { headOf, lineOf, type MetricFamily } from './metric-family.ts'
import type { MetricsSource } from './metrics-source.ts'
import { readScrape } from './scrape.ts'
import { Slices } from './slices.ts'

/** Names are those that jmx_exporter gives Kafka's metrics in Strimzi's configuration, so that existing boards work. */
const families: readonly MetricFamily[] = [
  ...topicFamilies,
  ...requestFamilies,
  ...replicaManagerFamilies,
  ...compactionFamilies,
  ...groupFamilies,
  ...networkFamilies,
  ...controllerFamilies,
  ...processFamilies,
  ...partitionFamilies,
]

/** Series between two looks at the clock. */
const lookEvery = 64

/** What a broker's metrics are, as text for Prometheus. */
export class Exposition {
  /** Of the process: what prom-client knows of every Node. */
  readonly #process = new Registry()
  readonly #source: MetricsSource
  readonly #clock: Clock

  constructor(source: MetricsSource, clock: Clock) {
    this.#source = source
    this.#clock = clock
    collectDefaultMetrics({ register: this.#process })
  }

  get contentType(): string {
    return this.#process.contentType
  }

  /** The text, piece by piece. What it takes to make the next one is done in slices: there may be very many series. */
  async *pieces(): AsyncGenerator<string, void, undefined> {
    yield `${await this.#process.metrics()}\n`
    const slices = new Slices(this.#clock)
    const scrape = await readScrape(this.#source, slices)
    let piece = ''
    let untilLook = lookEvery
    for (const family of families) {
      piece += headOf(family)
      for (const sample of family.samples(scrape)) {
        piece += lineOf(family.name, sample)
        if (--untilLook > 0) continue
        untilLook = lookEvery
        if (!slices.isOver) continue
        yield piece
        piece = ''
        await slices.next()
      }
    }
    yield piece
  }
}
