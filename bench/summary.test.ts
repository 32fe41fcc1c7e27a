import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Measured } from './rounds.ts'
import { markdown, median, meetsBar, summarize } from './summary.ts'
import type { LoadWorkload } from './workload.ts'

const workload: LoadWorkload = {
  kind: 'load',
  name: 'w',
  title: 'W',
  metrics: [
    { name: 'cost', unit: 's', better: 'less', bar: 0.5 },
    { name: 'speed', unit: 'MB/s', better: 'more', bar: 1 },
  ],
  run: () => Promise.reject(new Error('not run here')),
}

const measured: Measured = {
  workload,
  figures: new Map([
    ['kafka', [10, 20, 30].map(cost => ({ cost, speed: 100 }))],
    ['millrace', [4, 12, 12].map(cost => ({ cost, speed: 90 }))],
  ]),
}

test('the median of an even number of figures lies between the middle two', () => {
  assert.equal(median([5, 1, 3]), 3)
  assert.equal(median([4, 1, 3, 2]), 2.5)
})

test('ratios are taken within a round, before their median', () => {
  const [cost] = summarize([measured], ['kafka', 'millrace'])
  // The ratio of the medians would be 0.6.
  assert.deepEqual(cost!.ratios.millrace, { median: 0.4, least: 0.4, most: 0.6 })
  assert.deepEqual(cost!.medians, { kafka: 20, millrace: 12 })
})

test('a bar is met from below where less is better and from above where more is', () => {
  const [cost, speed] = summarize([measured], ['kafka', 'millrace'])
  assert.equal(meetsBar(cost!, cost!.ratios.millrace!), true)
  assert.equal(meetsBar(speed!, speed!.ratios.millrace!), false)
})

test('the table shows medians, ratio, spread and verdict', () => {
  const rows = summarize([measured], ['kafka', 'millrace'])
  const lines = markdown(rows, ['kafka', 'millrace']).split('\n')
  assert.equal(lines[0], '| workload | metric | kafka | millrace | millrace / kafka | bar |')
  assert.equal(lines[2], '| W | cost | 20.0 s | 12.0 s | 0.40 (0.40–0.60) ✓ | ≤ 0.5 |')
})
