import { exitOnSignals } from '../compatibility/child-process.ts'
import { KafkaOracle } from '../compatibility/kafka/kafka-oracle.ts'

exitOnSignals()
const k = await KafkaOracle.start({
  dir: process.argv[2],
  properties: {
    'broker.rack': 'rack-1',
    'offsets.topic.num.partitions': '3',
    'group.initial.rebalance.delay.ms': '0',
    'group.min.session.timeout.ms': '100',
  },
})
console.log(k.bootstrap)
setTimeout(() => {
  void k.stop().then(() => process.exit(0))
}, 3 * 3600_000)
