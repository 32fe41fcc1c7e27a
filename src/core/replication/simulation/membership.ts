import { assert } from '../../../base/assert.ts'
import { ControllerLink } from './controller-link.ts'
import type { SimBroker } from './sim-broker.ts'

/** A broker's place in the cluster: its lives are registered, it says that it lives, and reads the metadata. */
export class Membership {
  readonly #broker: SimBroker
  link: ControllerLink
  /** How the last life ended: whether what it had may be lost. */
  mayHaveLost = false
  /** On disk: of the last life that was registered. */
  #savedEpoch = -1

  constructor(broker: SimBroker) {
    this.#broker = broker
    this.link = new ControllerLink(broker.world, broker.id)
  }

  begin(): void {
    const { world, id } = this.#broker
    this.link = new ControllerLink(world, id)
    this.#register()
  }

  #register(): void {
    const broker = this.#broker
    const { world, life: incarnation, id } = broker
    const previousEpoch = this.mayHaveLost ? -1 : this.#savedEpoch
    this.link.ask(
      controller => {
        // A process that is gone is not registered any more: its connection went with it.
        if (broker.life !== incarnation) return undefined
        const known = controller.state.brokers.get(id)?.epoch ?? -1
        const epoch = controller.register(id, { incarnation, previousEpoch }, world.nowMs)
        // Also where the life in between ended before it learned its epoch: the controller cannot know what it did.
        const isUnclean = epoch !== undefined && epoch !== known && previousEpoch !== known
        if (isUnclean) world.checker.ledger.failedLossily(id, known)
        return epoch
      },
      broker.inThisLife(brokerEpoch => {
        if (brokerEpoch === undefined) broker.later(world.random.between(50, 300), () => this.#register())
        else this.#registered(brokerEpoch)
      }),
    )
  }

  #registered(brokerEpoch: number): void {
    this.#broker.brokerEpoch = brokerEpoch
    this.#savedEpoch = brokerEpoch
    this.mayHaveLost = false
    this.#readMetadata()
    this.#heartbeat()
  }

  #heartbeat(): void {
    const broker = this.#broker
    const { brokerEpoch, world, id: brokerId, isShuttingDown: wantShutDown } = broker
    assert(brokerEpoch !== undefined, 'who sends heartbeats is registered')
    const metadataOffset = (broker.state?.endOffset ?? 0) - 1
    const life = { brokerId, brokerEpoch, metadataOffset, wantShutDown, wantFence: false }
    this.link.ask(
      controller => controller.heartbeat(life, world.nowMs),
      broker.inThisLife(answer => {
        if (answer?.shouldShutDown && broker.isShuttingDown) world.stopped(broker)
      }),
    )
    broker.later(wantShutDown ? 100 : 500, () => this.#heartbeat())
  }

  /** Now and then it hears of what has been committed since: all of it in one delta, or a part. */
  #readMetadata(): void {
    const broker = this.#broker
    const { world, id } = broker
    broker.later(world.random.between(1, broker.metadataDelayMs), () => {
      const read = broker.state?.endOffset ?? 0
      const news = world.checker.states.filter(state => state.endOffset > read)
      const state = world.random.chance(0.5) ? news.at(-1) : news[0]
      if (state !== undefined && !world.isLost(`0>${id}`)) broker.metadataRead(state)
      this.#readMetadata()
    })
  }
}
