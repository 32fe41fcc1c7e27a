import { type Endpoint, NetworkError } from '../../io/network.ts'

export interface BindRequest {
  /** Empty means all interfaces; `localhost` means both loopback addresses. */
  readonly host: string
  /** 0 means any free port, the same one on all addresses. */
  readonly port: number
}

type Listen = (endpoint: Endpoint) => Promise<Endpoint>

const maxPortTries = 20

/**
 * Listens on every address that `host` stands for, on one port, and returns that port. Clients resolve `localhost` to
 * either family, so both are served; a host without one of them is served by the other.
 */
export async function bind(
  { host, port }: BindRequest,
  listen: Listen,
  closeAll: () => Promise<void>,
): Promise<number> {
  if (host === '') return await bindAllInterfaces(port, listen)
  if (host !== 'localhost') return (await listen({ host, port })).port
  for (let tries = 1; ; tries++) {
    const first = await listen({ host: '127.0.0.1', port })
    try {
      await listen({ host: '::1', port: first.port })
      return first.port
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error
      if (error.code === 'addressNotAvailable' || error.code === 'failed') return first.port
      if (port !== 0 || error.code !== 'addressInUse' || tries === maxPortTries) throw error
      await closeAll()
    }
  }
}

async function bindAllInterfaces(port: number, listen: Listen): Promise<number> {
  try {
    return (await listen({ host: '::', port })).port
  } catch (error) {
    if (!(error instanceof NetworkError) || error.code !== 'addressNotAvailable') throw error
    return (await listen({ host: '0.0.0.0', port })).port
  }
}

/** Why nothing can be listened on there, for people. */
export function bindProblem(error: NetworkError): string {
  switch (error.code) {
    case 'addressInUse':
      return 'another program listens there'
    case 'addressNotAvailable':
      return 'this machine has no such address'
    case 'notPermitted':
      return "this user may not (ports below 1024 are the superuser's)"
    default:
      return error.cause instanceof Error ? error.cause.message : error.message
  }
}
