import { createServer, type Server, type ServerResponse } from 'node:http'
import { Exposition } from './exposition.ts'
import type { MetricsSource } from './metrics-source.ts'

/** Whether the broker serves, and what it waits for if not. */
export interface Readiness {
  readonly isReady: boolean
  readonly reason: string
}

export interface AdminServerOptions {
  readonly host: string
  readonly port: number
  readonly source: MetricsSource
  readonly readiness: () => Readiness
}

const maxHeaderBytes = 8 * 1024

/**
 * The admin port: `/metrics` for Prometheus, `/livez` (the event loop answers) and `/readyz` (clients can be served).
 * Everything is read only.
 */
export class AdminServer {
  readonly #server: Server
  readonly #exposition: Exposition
  readonly #options: AdminServerOptions

  constructor(options: AdminServerOptions) {
    this.#options = options
    this.#exposition = new Exposition(options.source)
    this.#server = createServer({ maxHeaderSize: maxHeaderBytes, requestTimeout: 10_000 }, (request, response) => {
      void this.#answer(request.method ?? 'GET', new URL(request.url ?? '/', 'http://admin').pathname, response)
    })
    this.#server.maxConnections = 100
  }

  /** Where it listens, once it does. */
  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : this.#options.port
  }

  /** Rejects with Node's error. */
  async listen(): Promise<void> {
    const { host, port } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => {
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
        response.setHeader('content-type', this.#exposition.contentType)
        end(response, 200, await this.#exposition.text())
        return
      case '/livez':
        end(response, 200, 'alive\n')
        return
      case '/readyz': {
        const { isReady, reason } = this.#options.readiness()
        end(response, isReady ? 200 : 503, `${reason}\n`)
        return
      }
      default:
        end(response, 404, 'Here are /metrics, /livez and /readyz.\n')
    }
  }
}

function end(response: ServerResponse, status: number, body: string): void {
  response.statusCode = status
  response.setHeader('content-length', Buffer.byteLength(body))
  response.end(body)
}
