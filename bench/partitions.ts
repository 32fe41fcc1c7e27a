import { runBenchmark } from './command.ts'
import { printDrift } from './drift.ts'
import { throughput } from './load-workloads.ts'

const counts = [1, 100, 1000]
const workloads = counts.map(partitions => {
  const title = partitions === 1 ? '1 partition' : `${partitions.toLocaleString('en')} partitions`
  return throughput({ name: `partitions-${partitions}`, title, size: 1024, records: 1_000_000, partitions })
})

printDrift(await runBenchmark('1 KiB records to more and more partitions.', 'partitions.ts', workloads))
