import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the range from which Linux takes the ports of outgoing connections: none of those may sit on a port between a stop and a restart. */
const FIRST = 15_000
const LAST = 32_000

/** Loopback ports that were free a moment ago, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  for (let tries = 0; ports.size < count; tries++) {
    if (tries > 1000) throw new Error('no free port found')
    const port = randomInt(FIRST, LAST)
    if (!ports.has(port) && (await isFree(port))) ports.add(port)
  }
  return [...ports]
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const outcome = new Promise<boolean>(resolve => {
    server.once('listening', () => resolve(true))
    server.once('error', () => resolve(false))
  })
  server.listen(port, '127.0.0.1')
  if (!(await outcome)) return false
  await once(server.close(), 'close')
  return true
}
