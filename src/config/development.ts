export const developmentControllerListener = 'CONTROLLER://127.0.0.1:9093'

/**
 * What stands in for a configuration where there is none: one node that listens on this machine only, keeps its data in
 * ./data and has internal topics with one replica. `localhost` is both of its addresses, 127.0.0.1 and ::1.
 */
export const developmentSettings: ReadonlyMap<string, string> = new Map([
  ['process.roles', 'broker,controller'],
  ['node.id', '1'],
  ['listeners', `PLAINTEXT://localhost:9092,${developmentControllerListener}`],
  ['controller.listener.names', 'CONTROLLER'],
  ['controller.quorum.bootstrap.servers', '127.0.0.1:9093'],
  ['log.dirs', 'data'],
  ['offsets.topic.replication.factor', '1'],
  ['transaction.state.log.replication.factor', '1'],
  ['transaction.state.log.min.isr', '1'],
  ['share.coordinator.state.topic.replication.factor', '1'],
  ['share.coordinator.state.topic.min.isr', '1'],
  ['group.initial.rebalance.delay.ms', '0'],
])

/** Naming one of these in the environment says that this is not a development machine. */
export const namesOfProduction: readonly string[] = ['process.roles', 'node.id', 'broker.id', 'log.dirs', 'log.dir']
