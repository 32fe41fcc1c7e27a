import { type MetricFamily, oneCounter, oneGauge } from '../metric-family.ts'
import type { ControllerGauges } from '../metrics-source.ts'

const prefix = 'kafka_controller_kafkacontroller'
const raft = 'kafka_server_raftmetrics'

export const controllerFamilies: readonly MetricFamily[] = [
  one(`${prefix}_activecontrollercount`, '1 on the active controller.', all => (all.isActive ? 1 : 0)),
  one(`${prefix}_offlinepartitionscount`, 'Partitions without a leader.', all => all.offlinePartitions),
  one(
    `${prefix}_preferredreplicaimbalancecount`,
    'Partitions that are not led by their first replica.',
    all => all.notLedByPreferred,
  ),
  one(`${prefix}_globaltopiccount`, 'Topics of the cluster.', all => all.topics),
  one(`${prefix}_globalpartitioncount`, 'Partitions of the cluster.', all => all.partitions),
  one(`${prefix}_activebrokercount`, 'Brokers that are not fenced.', all => all.activeBrokers),
  one(`${prefix}_fencedbrokercount`, 'Brokers that are fenced.', all => all.fencedBrokers),
  one(`${prefix}_lastappliedrecordoffset`, 'Last metadata record applied.', all => all.lastAppliedOffset),
  one(`${prefix}_lastcommittedrecordoffset`, 'Last metadata record committed.', all => all.lastCommittedOffset),
  oneCounter(
    'kafka_controller_controllerstats_uncleanleaderelections_total',
    'Leaders that were neither in sync nor eligible, since this broker has started.',
    ({ controller }) => controller.uncleanElections,
  ),
  one(`${raft}_current_leader`, 'Id of the quorum leader.', all => all.leaderId),
  one(`${raft}_current_epoch`, 'Epoch of the quorum.', all => all.leaderEpoch),
  one(`${raft}_log_end_offset`, 'End of the metadata log.', all => all.logEndOffset),
  one(`${raft}_high_watermark`, 'High watermark of the metadata log.', all => all.highWatermark),
]

function one(name: string, help: string, value: (all: ControllerGauges) => number): MetricFamily {
  return oneGauge(name, help, ({ controller }) => value(controller))
}
