// Preloaded into a broker that is measured (NODE_OPTIONS=--import): at SIGUSR2 it writes how late its event loop was since the
// last one to the file that EVENT_LOOP_DELAY_FILE names. Samples are a millisecond apart, which is taken off.
import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const resolution = 1
const file = process.env.EVENT_LOOP_DELAY_FILE

if (file !== undefined) {
  const histogram = monitorEventLoopDelay({ resolution })
  histogram.enable()
  const ms = quantile => Math.max(0, histogram.percentile(quantile) / 1e6 - resolution)
  process.on('SIGUSR2', () => {
    const text = JSON.stringify({ p50: ms(50), p99: ms(99), p999: ms(99.9), max: ms(100), samples: histogram.count })
    writeFileSync(`${file}.tmp`, text)
    renameSync(`${file}.tmp`, file)
    histogram.reset()
  })
}
