import { boolean, inert, int, list, long, type Setting, string } from './setting.ts'

const notYet = 'only classic groups are in Millrace so far'

/** Settings of one group (resource type GROUP), each with the broker setting it falls back to, if any. */
export const groupConfigSettings: readonly { readonly setting: Setting; readonly brokerName: string | undefined }[] =
  Object.entries({
    'group.consumer.assignment.interval.ms': int('consumer.assignment.interval.ms', { default: 1000, min: 0 }),
    'group.consumer.assignor.offload.enable': boolean('consumer.assignor.offload.enable', {
      default: true,
      internal: true,
    }),
    'group.consumer.heartbeat.interval.ms': int('consumer.heartbeat.interval.ms', { default: 5000, min: 1 }),
    'group.consumer.session.timeout.ms': int('consumer.session.timeout.ms', { default: 45_000, min: 1 }),
    'errors.deadletterqueue.copy.record.enable': boolean('errors.deadletterqueue.copy.record.enable', {
      default: false,
    }),
    'errors.deadletterqueue.topic.name': string('errors.deadletterqueue.topic.name', { default: '' }),
    'group.share.assignment.interval.ms': int('share.assignment.interval.ms', { default: 1000, min: 0 }),
    'group.share.assignor.offload.enable': boolean('share.assignor.offload.enable', { default: true, internal: true }),
    'share.auto.offset.reset': string('share.auto.offset.reset', {
      default: 'latest',
      check: checkShareReset,
      allowed: 'earliest, latest or by_duration:<PnDTnHnMn.nS>',
    }),
    'group.share.delivery.count.limit': int('share.delivery.count.limit', { default: 5, min: 2 }),
    'group.share.heartbeat.interval.ms': int('share.heartbeat.interval.ms', { default: 5000, min: 1 }),
    'share.isolation.level': string('share.isolation.level', {
      default: 'read_uncommitted',
      oneOf: ['read_committed', 'read_uncommitted'],
    }),
    'group.share.partition.max.record.locks': int('share.partition.max.record.locks', { default: 2000, min: 100 }),
    'group.share.record.lock.duration.ms': int('share.record.lock.duration.ms', { default: 30_000, min: 1000 }),
    'share.renew.acknowledge.enable': boolean('share.renew.acknowledge.enable', { default: true }),
    'group.share.session.timeout.ms': int('share.session.timeout.ms', { default: 45_000, min: 1 }),
    'group.streams.acceptable.recovery.lag': long('streams.acceptable.recovery.lag', {
      default: 10_000,
      min: 0,
      internal: true,
    }),
    'group.streams.assignment.interval.ms': int('streams.assignment.interval.ms', { default: 1000, min: 0 }),
    'group.streams.assignors': string('streams.assignor.name', { default: null }),
    'group.streams.assignor.offload.enable': boolean('streams.assignor.offload.enable', {
      default: true,
      internal: true,
    }),
    'group.streams.heartbeat.interval.ms': int('streams.heartbeat.interval.ms', { default: 5000, min: 1 }),
    'group.streams.initial.rebalance.delay.ms': int('streams.initial.rebalance.delay.ms', { default: 3000, min: 0 }),
    'group.streams.num.standby.replicas': int('streams.num.standby.replicas', { default: 0, min: 0 }),
    'group.streams.num.warmup.replicas': int('streams.num.warmup.replicas', { default: 2, min: 0, internal: true }),
    'group.streams.rack.aware.assignment.tags': list('streams.rack.aware.assignment.tags', { default: [] }),
    'group.streams.session.timeout.ms': int('streams.session.timeout.ms', { default: 45_000, min: 1 }),
    'group.streams.task.offset.interval.ms': int('streams.task.offset.interval.ms', {
      default: 60_000,
      min: 1,
      internal: true,
    }),
  }).map(([brokerName, setting]) => ({
    setting: inert(notYet, [setting])[0],
    brokerName: brokerName === setting.name ? undefined : brokerName,
  }))

/** Settings of one metrics subscription of clients (resource type CLIENT_METRICS). */
export const clientMetricsSettings: readonly Setting[] = inert('metrics of clients are not collected so far', [
  int('interval.ms', { default: 300_000 }),
  list('match', { default: [] }),
  list('metrics', { default: [] }),
])

function checkShareReset(value: string): string | undefined {
  const isDuration = /^by_duration:P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$/.test(value)
  if (value === 'earliest' || value === 'latest' || isDuration) return undefined
  const forms = "either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'"
  return `Invalid value \`${value}\` for configuration share.auto.offset.reset. The value must be ${forms}.`
}
