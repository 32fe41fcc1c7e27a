import { NetworkError, type NetworkErrorCode } from '../network.ts'

const codes: Readonly<Record<string, NetworkErrorCode>> = {
  EADDRINUSE: 'addressInUse',
  EADDRNOTAVAIL: 'addressNotAvailable',
  EACCES: 'notPermitted',
  EPERM: 'notPermitted',
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timedOut',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  ERR_STREAM_DESTROYED: 'reset',
}

/** What Node's sockets report, as a `NetworkError`; `where` says what was tried, and with whom. */
export function toNetworkError(error: unknown, where: string): NetworkError {
  if (error instanceof NetworkError) return error
  const { code = '', message = String(error) } = error as NodeJS.ErrnoException
  return new NetworkError(codes[code] ?? 'failed', `${where}: ${message}`, error)
}
