import { createServer, type Server, type ServerResponse } from 'node:http'
import type { HostAndPort } from '../../config/listeners.ts'
import type { Clock } from '../../io/clock.ts'
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
  serve(source: MetricsSource, clock: Clock, isReady: () => boolean): void {
    this.#told = { exposition: new Exposition(source, clock), isReady }
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
        await answerMetrics(this.#told?.exposition, method, response)
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

/** In pieces: nothing of it is kept for a reader that is slow, and nothing is made for one that has gone. */
async function answerMetrics(
  exposition: Exposition | undefined,
  method: string,
  response: ServerResponse,
): Promise<void> {
  if (exposition === undefined) {
    end(response, 503, notReady)
    return
  }
  response.setHeader('content-type', exposition.contentType)
  if (method !== 'HEAD') {
    for await (const piece of exposition.pieces()) {
      if (response.destroyed) return
      if (!response.write(piece)) await taken(response)
    }
  }
  response.end()
}

/** Resolves when the reader has taken what was written, or has gone. */
function taken(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
    if (response.destroyed) done()
  })
}

function end(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status
  response.setHeader('content-length', Buffer.byteLength(body))
  response.end(body)
}
