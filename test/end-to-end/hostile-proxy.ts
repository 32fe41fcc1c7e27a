import { apiMessages } from '../../src/protocol/all-messages.ts'
import { ApiKey } from '../../src/protocol/apis.ts'
import { encodeResponse, type RequestHeader } from '../../src/protocol/frames.ts'
import { damage, withSize } from '../../src/protocol/fuzz.ts'
import { randomValue } from '../../src/protocol/random-value.ts'
import { Writer } from '../../src/protocol/writer.ts'
import type { SeededRandom } from '../../src/records/seeded-random.ts'
import { FrameProxy } from '../frame-proxy.ts'

/** Their answers have addresses. Nobody is to be connected to that a flipped bit has named. */
const tellsAddresses: ReadonlySet<number> = new Set([
  ...[ApiKey.produce, ApiKey.fetch, ApiKey.metadata, ApiKey.findCoordinator, ApiKey.describeCluster],
])

/** Stands before a broker and damages a part of its answers. */
export class HostileProxy implements AsyncDisposable {
  #proxy: FrameProxy | undefined
  /** Of the answers; undefined: hands all on as they are. */
  random: SeededRandom | undefined
  damagedCount = 0

  static async start({ port, brokerPort }: { port: number; brokerPort: number }): Promise<HostileProxy> {
    const hostile = new HostileProxy()
    hostile.#proxy = await FrameProxy.start({
      port,
      brokerPort: () => brokerPort,
      answered: ({ header }, frame) => {
        const { random } = hostile
        if (random === undefined || random.below(4) > 0) return frame
        return hostile.#damaged(frame.subarray(4), header, random)
      },
    })
    return hostile
  }

  /** Ends the connections that there are. */
  reset(): void {
    this.#proxy?.reset()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy?.[Symbol.asyncDispose]()
  }

  #damaged(frame: Buffer, about: RequestHeader, random: SeededRandom): Buffer {
    this.damagedCount++
    if (!tellsAddresses.has(about.apiKey)) {
      if (random.below(2) === 0) return withSize(damage(frame, random).bytes, random)
      const { response } = apiMessages.find(one => one.request.key === about.apiKey)!
      const value = randomValue(response, about.apiVersion, random)
      const writer = new Writer({ chunkBytes: 1024, copiesAll: true })
      return encodeResponse(writer, about, response, value as never).parts[0] as Buffer
    }
    for (;;) {
      const { bytes, damage: kind } = damage(frame, random)
      if (kind === 'truncated' || kind === 'extended' || kind === 'noise') return withSize(bytes, random)
    }
  }
}
