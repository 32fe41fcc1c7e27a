import { runBenchmark } from './command.ts'
import { manyPartitions, start } from './life-workloads.ts'
import { latency, memory, throughput } from './load-workloads.ts'

const cpuBar = { produceCpu: 0.7, produce: 1, consumeCpu: 1, consume: 1 }
const smallBar = { produceCpu: 0.5, produce: 1, consumeCpu: 1, consume: 0.8 }
const lz4Bar = { ...cpuBar, consume: 0.8 }

await runBenchmark('One broker beside Apache Kafka: 6 partitions, acks=all, idempotent producers.', 'broker.ts', [
  throughput({ name: '100b', title: '100 B', size: 100, records: 4_000_000, bars: smallBar }),
  throughput({ name: '1k', title: '1 KiB', size: 1024, records: 1_000_000, bars: cpuBar }),
  throughput({ name: '10k', title: '10 KiB', size: 10_240, records: 100_000, bars: cpuBar }),
  throughput({ name: 'lz4', title: '1 KiB lz4', size: 1024, records: 1_000_000, codec: 'lz4', bars: lz4Bar }),
  latency(1000),
  latency(5000),
  memory,
  start,
  manyPartitions,
])
