import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { allSucceeded, createClient } from '../../src/client/index.ts'
import { Patience } from '../compatibility/patience.ts'

export const options = { timeout: 60_000 }

/** Where the broker is that `run.ts` has started, or one that runs already. */
export function bootstrapServers(): string {
  const given = process.env.MILLRACE_TEST_BOOTSTRAP
  if (given === undefined) throw new Error('run.ts runs these tests; or set MILLRACE_TEST_BOOTSTRAP=host:port')
  return given
}

/** A client with a topic of its own; both are gone when the test is over. */
export async function withTopic(t: TestContext, partitions = 4, configs: Record<string, string> = {}) {
  const client = createClient({ bootstrapServers: bootstrapServers() })
  const admin = client.admin()
  const topic = `live-${randomUUID()}`
  t.after(async () => {
    await admin.deleteTopics([topic])
    await client.close()
  })
  allSucceeded(await admin.createTopics([{ name: topic, partitions, replicationFactor: 1, configs }]))
  const all = Array.from({ length: partitions }, (_, partition) => ({ topic, partition }))
  return { client, admin, topic, all }
}

/** Brokers hear of changes a moment after the controller has made them. */
export async function eventually(check: () => Promise<void>): Promise<void> {
  let last: unknown
  const isSo = async () => {
    try {
      await check()
      return true
    } catch (error) {
      last = error
      return false
    }
  }
  await until(() => String(last), isSo)
}

/** `what` says what is waited for, and what is so instead. Fails before the test's time is up. */
export async function until(what: string | (() => string), holds: () => boolean | Promise<boolean>): Promise<void> {
  using patience = new Patience(options.timeout / 2)
  while (!(await holds())) {
    if (patience.isOver) throw new Error(`waited in vain: ${typeof what === 'string' ? what : what()}`)
    await sleep(20)
  }
}
