import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Connection } from '../../io/network.ts'
import { encodeRequest } from '../../protocol/frames.ts'
import { metadataRequest, metadataResponse } from '../../protocol/messages/metadata.ts'
import { Writer } from '../../protocol/writer.ts'
import { SimulatedConnection } from '../../simulator/io/simulated-connection.ts'
import { type BrokerHost, onBrokerHost } from '../fixture.test.ts'

const clients = 60
const capacityBytes = 1024 * 1024
const overrides = [`queued.max.request.bytes=${capacityBytes}`, `socket.request.max.bytes=${capacityBytes}`]
/** What Metadata tells of the partitions, and what an answer may cost: a chunk that it does not share. */
const partitions = 600
const chunkBytes = 64 * 1024
const metadataApi = { request: metadataRequest, response: metadataResponse }
const deafLine = 'it does not read its answers while others wait for memory'

/** Requests for all topics, one behind the other. */
function asking(count: number): Buffer {
  const header = { apiVersion: 12, correlationId: 1, clientId: 'deaf' }
  const { parts } = encodeRequest(new Writer({ chunkBytes: 512, copiesAll: true }), header, metadataRequest, {
    topics: null,
  })
  return Buffer.concat(Array.from({ length: count }, () => parts[0] as Buffer))
}

/** Clients of which each asks for more than the kernel takes, and reads nothing. */
class DeafCrowd {
  readonly #network
  readonly #connections: Connection[] = []
  closedCount = 0
  readonly #bytes = asking(300)

  constructor(host: BrokerHost) {
    this.#network = host.world.addNode('deaf').start().network
  }

  async connect(count: number): Promise<void> {
    for (let index = 0; index < count; index++) this.#connections.push(await this.#connectOne())
  }

  leave(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  async #connectOne(): Promise<Connection> {
    const connection = await this.#network.connect({ host: 'broker', port: 9092 }, { timeoutMs: 3000 })
    connection.start({ target: () => undefined, received: () => {}, closed: () => this.closedCount++ })
    connection.pause()
    connection.send([this.#bytes])
    return connection
  }
}

/** The most that unsent answers, and all that clients make the broker hold, came to in this time. */
async function mostHeld(host: BrokerHost, forMs: number) {
  let answers = 0
  let all = 0
  for (let ms = 0; ms < forMs; ms += 5) {
    await host.world.sleep(5)
    answers = Math.max(answers, host.broker.server.unsentAnswerBytes)
    all = Math.max(all, host.broker.budget.usedBytes)
  }
  return { answers, all }
}

test('unsent answers stay within their part of the budget, however many clients do not read', () =>
  onBrokerHost({ overrides }, async host => {
    await host.start()
    await host.createTopic('wide', partitions)
    const crowd = new DeafCrowd(host)
    await crowd.connect(clients)
    const { answers, all } = await mostHeld(host, 10_000)
    assert.ok(answers > capacityBytes / 4, `${answers} bytes: the clients did not read`)
    assert.ok(answers < capacityBytes / 2 + 2 * chunkBytes, `${answers} bytes of answers`)
    assert.ok(all < 1.5 * capacityBytes, `${all} bytes in all`)
    crowd.leave()
    await host.world.sleep(5000)
    assert.deepEqual([host.broker.server.unsentAnswerBytes, host.broker.budget.usedBytes], [0, 0])
    await host.close()
  }))

test('clients that do not read are closed for those that wait, which are served in small and in large', () =>
  onBrokerHost({ overrides }, async host => {
    await host.start()
    await host.createTopic('wide', partitions)
    const crowd = new DeafCrowd(host)
    await crowd.connect(clients)
    for (let round = 0; round < 10; round++) {
      const beganMs = host.world.nowMs
      assert.equal((await host.produce('wide')).errorCode, 0)
      const producedMs = host.world.nowMs - beganMs
      assert.ok(producedMs < 1000, `a produce took ${producedMs} ms`)
      const askedMs = host.world.nowMs
      const { topics } = await host.ask(metadataApi, { topics: null })
      assert.equal(topics[0].partitions.length, partitions)
      const askedForMs = host.world.nowMs - askedMs
      assert.ok(askedForMs < 100, `all Metadata took ${askedForMs} ms`)
      await host.world.sleep(300)
    }
    assert.ok(crowd.closedCount > 0)
    assert.ok(host.linesWith(deafLine).length > 0)
    await host.close()
  }))

test('who reads slowly is not taken for one that does not read', () =>
  onBrokerHost({ overrides }, async host => {
    await host.start()
    await host.createTopic('wide', partitions)
    const crowd = new DeafCrowd(host)
    await crowd.connect(clients)
    let isSlowOpen = true
    const { network } = host.world.addNode('slow').start()
    const reader = await network.connect({ host: 'broker', port: 9092 }, { timeoutMs: 3000 })
    let readBytes = 0
    reader.start({
      target: () => undefined,
      received: bytes => {
        readBytes += bytes.length
        reader.pause()
      },
      closed: () => {
        isSlowOpen = false
      },
    })
    reader.send([asking(300)])
    for (let times = 0; times < 40; times++) {
      await host.world.sleep(300)
      reader.resume()
    }
    assert.ok(crowd.closedCount > 0, 'others were closed meanwhile')
    assert.ok(isSlowOpen && readBytes > 0)
    await host.close()
  }))

test('who ends its side and then does not read what it was answered makes room for others like anybody', () =>
  onBrokerHost({ overrides }, async host => {
    await host.start()
    await host.createTopic('wide', partitions)
    const { network } = host.world.addNode('ended').start()
    for (let index = 0; index < 100; index++) {
      const connection = await network.connect({ host: 'broker', port: 9092 }, { timeoutMs: 3000 })
      assert.ok(connection instanceof SimulatedConnection)
      connection.start({ target: () => undefined, received: () => {}, closed: () => {} })
      connection.pause()
      connection.send([asking(1)])
      connection.endSide()
    }
    await host.world.sleep(1000)
    assert.ok(host.broker.server.unsentAnswerBytes > capacityBytes / 2)
    const askedMs = host.world.nowMs
    const { topics } = await host.ask(metadataApi, { topics: null })
    assert.equal(topics[0].partitions.length, partitions)
    const askedForMs = host.world.nowMs - askedMs
    assert.ok(askedForMs < 10_000, `all Metadata took ${askedForMs} ms`)
    await host.world.sleep(60_000)
    assert.deepEqual([host.broker.server.unsentAnswerBytes, host.broker.budget.usedBytes], [0, 0])
    await host.close()
  }))
