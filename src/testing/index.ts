/**
 * `millrace/testing`: a broker inside the process of a test.
 *
 *   await using broker = await startBroker({ topics: { orders: 3 } })
 *   const kafka = new Kafka({ brokers: [broker.bootstrapServers] })
 */
export { type StartBrokerOptions, startBroker } from './start-broker.ts'
export { TestBroker } from './test-broker.ts'
