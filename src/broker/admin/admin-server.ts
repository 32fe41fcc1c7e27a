import { createServer, type Server, type ServerResponse } from 'node:http'
import type { HostAndPort } from '../../config/listeners.ts'
import { Exposition } from './exposition.ts'
import type { MetricsSource } from './metrics-source.ts'

/** What there is to tell of a broker that has started. */
interface Told {
  readonly exposition: Exposition
  readonly isReady: () => boolean
}

const maxHeaderBytes = 8 * 1024
const notReady = 'not ready: starting or stopping\n'

/**
 * The admin port: `/metrics` for Prometheus, `/livez` (the event loop answers) and `/readyz` (clients can be served).
 * Everything is read only. It is open while the broker starts, which can take minutes.
 */
export class AdminServer {
  readonly host: string
  readonly #askedPort: number
  readonly #server: Server
  #listening: Promise<void> | undefined
  #told: Told | undefined

  constructor({ host, port }: HostAndPort) {
    this.host = host
    this.#askedPort = port
    this.#server = createServer({ maxHeaderSize: maxHeaderBytes, requestTimeout: 10_000 }, (request, response) => {
      void this.#answer(request.method ?? 'GET', new URL(request.url ?? '/', 'http://admin').pathname, response)
    })
    this.#server.maxConnections = 100
  }

  /** Once it listens the real one, also where any was asked for. */
  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : this.#askedPort
  }

  /** Harmless when repeated. Rejects with Node's error. */
  async listen(): Promise<void> {
    this.#listening ??= this.#listen()
    await this.#listening
  }

  /** The broker has started: there are metrics from now on, and it may be ready. */
  serve(source: MetricsSource, isReady: () => boolean): void {
    this.#told = { exposition: new Exposition(source), isReady }
  }

  async #listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#askedPort, this.host, () => {
        this.#server.off('error', reject)
        resolve()
      })
    })
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>(resolve => this.#server.close(() => resolve()))
  }

  async #answer(method: string, path: string, response: ServerResponse): Promise<void> {
    if (method !== 'GET' && method !== 'HEAD') {
      end(response, 405, 'Only GET is answered here.\n')
      return
    }
    switch (path) {
      case '/metrics':
        await answerMetrics(this.#told?.exposition, response)
        return
      case '/livez':
        end(response, 200, 'alive\n')
        return
      case '/readyz':
        if (this.#told?.isReady()) end(response, 200, 'ready\n')
        else end(response, 503, notReady)
        return
      default:
        end(response, 404, 'Here are /metrics, /livez and /readyz.\n')
    }
  }
}

async function answerMetrics(exposition: Exposition | undefined, response: ServerResponse): Promise<void> {
  if (exposition === undefined) {
    end(response, 503, notReady)
    return
  }
  response.setHeader('content-type', exposition.contentType)
  end(response, 200, await exposition.text())
}

function end(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status
  response.setHeader('content-length', Buffer.byteLength(body))
  response.end(body)
}
