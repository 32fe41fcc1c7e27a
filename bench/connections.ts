import { runBenchmark } from './command.ts'
import { printDrift } from './drift.ts'
import { throughput } from './load-workloads.ts'

const counts = [1, 100, 1000]
const workloads = counts.map(clients => {
  const title = clients === 1 ? '1 client' : `${clients.toLocaleString('en')} clients`
  return throughput({ name: `connections-${clients}`, title, size: 1024, records: 1_000_000, clients })
})

printDrift(
  await runBenchmark(
    '1 KiB records over more and more clients, each with connections of its own.',
    'connections.ts',
    workloads,
  ),
)
