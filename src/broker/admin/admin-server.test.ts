import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeIo } from '../../io/node/node-io.ts'
import { BrokerMetrics } from '../metrics/broker-metrics.ts'
import { AdminServer } from './admin-server.ts'
import type { MetricsSource } from './metrics-source.ts'

async function get(admin: AdminServer, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${admin.port}${path}`)
  return `${response.status} ${(await response.text()).split('\n')[0]}`
}

test('while the broker starts it is told alive and not ready, and there are no metrics yet', async () => {
  const admin = new AdminServer({ host: '127.0.0.1', port: 0 })
  try {
    await Promise.all([admin.listen(), admin.listen()])
    assert.equal(await get(admin, '/livez'), '200 alive')
    assert.equal(await get(admin, '/readyz'), '503 not ready: starting or stopping')
    assert.equal(await get(admin, '/metrics'), '503 not ready: starting or stopping')
    let isReady = true
    admin.serve({ counters: new BrokerMetrics() } as MetricsSource, nodeIo().clock, () => isReady)
    assert.equal(await get(admin, '/readyz'), '200 ready')
    isReady = false
    assert.equal(await get(admin, '/readyz'), '503 not ready: starting or stopping')
    assert.equal(await get(admin, '/livez'), '200 alive')
    assert.equal(await get(admin, '/else'), '404 Here are /metrics, /livez and /readyz.')
  } finally {
    await admin.close()
  }
})
