import { ErrorCode } from '../base/error-code.ts'

export type ProducerIdBlock =
  | { readonly type: 'allocated'; readonly start: number; readonly length: number }
  | { readonly type: 'refused'; readonly errorCode: ErrorCode }

/** Gives out producer ids of the blocks that the controller allots to this broker. Ids that are not used are lost. */
export class ProducerIds {
  readonly #allocate: () => Promise<ProducerIdBlock>
  #next = 0
  #end = 0
  #pending: Promise<ErrorCode> | undefined

  constructor(allocate: () => Promise<ProducerIdBlock>) {
    this.#allocate = allocate
  }

  async take(): Promise<{ readonly errorCode: ErrorCode; readonly producerId: number }> {
    while (this.#next === this.#end) {
      this.#pending ??= this.#refill()
      const errorCode = await this.#pending
      if (errorCode !== ErrorCode.none) return { errorCode, producerId: -1 }
    }
    return { errorCode: ErrorCode.none, producerId: this.#next++ }
  }

  async #refill(): Promise<ErrorCode> {
    const block = await this.#allocate()
    this.#pending = undefined
    // A client that is told so tries again; the controller may be on its way.
    if (block.type === 'refused') return ErrorCode.coordinatorLoadInProgress
    this.#next = block.start
    this.#end = block.start + block.length
    return ErrorCode.none
  }
}
