import { FrameProxy, type ProxiedRequest } from '../frame-proxy.ts'
import { freePorts } from './free-port.ts'

/** One request that went by. Times are of `performance.now()`. */
export interface Call {
  /** Counts the connections. */
  readonly connection: number
  readonly apiKey: number
  readonly apiVersion: number
  readonly clientId: string
  readonly body: Buffer
  readonly sentAt: number
  answeredAt: number | undefined
  /** What the broker answered, header and body, whether or not the client got it. */
  answer: Buffer | undefined
}

/** Stands between clients and a broker that advertises the tap's port: hands everything on and remembers the requests. */
export class Tap implements AsyncDisposable {
  readonly port: number
  /** Of the broker. */
  targetPort = 0
  readonly calls: Call[] = []
  readonly #unanswered = new Map<ProxiedRequest, Call>()
  #proxy: FrameProxy | undefined
  #dropping: { readonly apiKey: number; readonly dropped: (call: Call) => void } | undefined

  static async open(): Promise<Tap> {
    const [port] = await freePorts(1)
    const tap = new Tap(port!)
    tap.#proxy = await FrameProxy.start({
      port: tap.port,
      brokerPort: () => tap.targetPort,
      asked: (request, body) => tap.#asked(request, body),
      answered: (request, frame) => tap.#answered(request, frame),
    })
    return tap
  }

  private constructor(port: number) {
    this.port = port
  }

  get bootstrap(): string {
    return `127.0.0.1:${this.port}`
  }

  /**
   * The next answer to such a request is lost, and the connection with it. Resolves with what was asked when that has happened;
   * `meanwhile` runs before anything else is handed on.
   */
  dropNextAnswer(apiKey: number, meanwhile = () => {}): Promise<Call> {
    return new Promise(resolve => {
      const dropped = (call: Call) => {
        meanwhile()
        resolve(call)
      }
      this.#dropping = { apiKey, dropped }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy?.[Symbol.asyncDispose]()
  }

  #asked(request: ProxiedRequest, body: Buffer): void {
    const { apiKey, apiVersion, clientId } = request.header
    const call: Call = {
      ...{ connection: request.connection, apiKey, apiVersion, clientId: clientId ?? '', body: Buffer.from(body) },
      ...{ sentAt: performance.now(), answeredAt: undefined, answer: undefined },
    }
    this.calls.push(call)
    this.#unanswered.set(request, call)
  }

  #answered(request: ProxiedRequest, frame: Buffer): Buffer | undefined {
    const call = this.#unanswered.get(request)!
    this.#unanswered.delete(request)
    call.answeredAt = performance.now()
    call.answer = Buffer.from(frame.subarray(4))
    if (this.#dropping?.apiKey !== call.apiKey) return frame
    this.#dropping.dropped(call)
    this.#dropping = undefined
    return undefined
  }
}
