import type { Now } from '../../../base/time.ts'
import type { Decision } from '../../state-machine/state-machine.ts'
import type { KnownRecord } from '../records.ts'
import type { SessionChange } from './broker-sessions.ts'
import type { ControllerCommand } from './commands.ts'
import type { ControllerReply } from './replies.ts'

export type ControllerDecision = Decision<KnownRecord, SessionChange, ControllerReply, never>

/** A decision in the making. */
export class Draft {
  readonly now: Now
  readonly records: KnownRecord[] = []
  readonly #replies: ControllerDecision['replies'][number][] = []
  readonly #soft: SessionChange[] = []
  answersAtOnce = false
  maySplit = false

  constructor(now: Now) {
    this.now = now
  }

  add(...records: readonly KnownRecord[]): void {
    for (const record of records) this.records.push(record)
  }

  soft(change: SessionChange): void {
    this.#soft.push(change)
  }

  reply(command: ControllerCommand, reply: ControllerReply): this {
    if (command.requestId !== undefined) this.#replies.push({ requestId: command.requestId, reply })
    return this
  }

  finish(): ControllerDecision {
    const { records, answersAtOnce, maySplit } = this
    return { records, replies: this.#replies, soft: this.#soft, effects: [], answersAtOnce, maySplit }
  }
}
