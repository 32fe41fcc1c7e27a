import type { Request } from './network/request.ts'

/** Serves one API. Whether the version is one of these has been checked. */
export interface ApiHandler {
  readonly apiKey: number
  /** The versions that are served, all of them completely. */
  readonly minVersion: number
  readonly maxVersion: number
  /** Answers the request, now or later. Throws `ProtocolError` when its body cannot be read. */
  handle(request: Request): void
}
