import { ErrorCode } from '../../base/error-code.ts'
import type { QuorumEffect, QuorumEvent } from '../../core/raft/events.ts'

type Upgrade = Omit<QuorumEvent & { readonly type: 'upgradeKraftVersion' }, 'type' | 'upgradeId'>
type Upgraded = Omit<QuorumEffect & { readonly type: 'kraftVersionUpgraded' }, 'type' | 'upgradeId'>

const ended: Upgraded = { errorCode: ErrorCode.notLeaderOrFollower, message: null }

/** Upgrades of kraft.version that the quorum was asked for and has not answered. It does within its request timeout. */
export class KraftVersionUpgrades {
  readonly #waiting = new Map<number, (answer: Upgraded) => void>()
  #lastId = 0

  ask(quorum: { handle(event: QuorumEvent): void }, upgrade: Upgrade): Promise<Upgraded> {
    const upgradeId = ++this.#lastId
    return new Promise(resolve => {
      this.#waiting.set(upgradeId, resolve)
      quorum.handle({ type: 'upgradeKraftVersion', upgradeId, ...upgrade })
    })
  }

  answered({ upgradeId, errorCode, message }: QuorumEffect & { readonly type: 'kraftVersionUpgraded' }): void {
    this.#waiting.get(upgradeId)?.({ errorCode, message })
    this.#waiting.delete(upgradeId)
  }

  /** The quorum answers nothing any more. */
  end(): void {
    for (const resolve of this.#waiting.values()) resolve(ended)
    this.#waiting.clear()
  }
}
