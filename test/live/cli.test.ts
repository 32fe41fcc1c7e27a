import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { millrace as runMillrace } from '../end-to-end/run-millrace.ts'
import { bootstrapServers, eventually, options } from './cluster.ts'

async function millrace(args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await runMillrace(args, { input, bootstrap: bootstrapServers() })
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
  return stdout
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse(await millrace([...args, '--json']))
}

/** A line each. */
async function consumed(...args: string[]): Promise<{ key: string; payload: string; offset: number }[]> {
  const lines = await millrace(['consume', ...args, '--from-beginning', '--exit', '--json'])
  return lines
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
}

/** What must not be there any more. */
async function assertRefused(args: readonly string[], said: RegExp): Promise<void> {
  const { code, stderr } = await runMillrace(args, { bootstrap: bootstrapServers() })
  assert.equal(code, 1, args.join(' '))
  assert.match(stderr, said)
}

test('the command makes, shows, changes and deletes a topic and its settings', options, async () => {
  const topic = `cli-${randomUUID()}`
  const created = await millrace(['topic', 'create', topic, '-p', '2', '-r', '1', '-c', 'retention.ms=60000'])
  assert.equal(created, `${topic} created: 2 partitions, 1 replica each.\n`)
  await eventually(async () => {
    const listed = await json<{ name: string; partitions: number }[]>('topic', 'list')
    assert.equal(listed.find(({ name }) => name === topic)?.partitions, 2)
  })
  await millrace(['topic', 'alter', topic, '--partitions', '3'])
  await eventually(async () => {
    const [described] = await json<{ partitions: unknown[] }[]>('topic', 'describe', topic)
    assert.equal(described.partitions.length, 3)
  })
  const settings = async () => await millrace(['config', 'get', '--topic', topic, 'retention.ms', '--json'])
  assert.match(await settings(), /"60000"/)
  await millrace(['config', 'set', '--topic', topic, 'retention.ms=70000'])
  await eventually(async () => assert.match(await settings(), /"70000"/))
  await assertRefused(['config', 'set', '--topic', topic, 'retention.ms=soon'], /retention\.ms/)
  await millrace(['topic', 'delete', topic, '--yes'])
  await eventually(() => assertRefused(['topic', 'describe', topic], /UNKNOWN_TOPIC_OR_PARTITION/))
})

test('the command produces, consumes, and moves, shows and deletes a group', options, async () => {
  const topic = `cli-${randomUUID()}`
  const group = `${topic}-group`
  await millrace(['topic', 'create', topic, '-p', '1', '-r', '1'])
  await millrace(['produce', topic, '-K', ':', '-z', 'lz4', '--header', 'from=cli'], 'a:1\nb:2\nc:3\n')
  const all = await consumed(topic, '--group', group)
  assert.deepEqual(
    all.map(({ key, payload, offset }) => [key, payload, offset]),
    [
      ['a', '1', 0],
      ['b', '2', 1],
      ['c', '3', 2],
    ],
  )
  assert.deepEqual(await consumed(topic, '--group', group), [])
  const listed = await json<{ groupId: string }[]>('group', 'list')
  assert.ok(listed.some(({ groupId }) => groupId === group))
  interface Described {
    readonly offsets: readonly { readonly committed: number; readonly end: number; readonly lag: number }[]
  }
  const offsets = async () => {
    const [described] = await json<Described[]>('group', 'describe', group)
    return described.offsets.map(({ committed, end, lag }) => [committed, end, lag])
  }
  assert.deepEqual(await offsets(), [[3, 3, 0]])
  await millrace(['group', 'reset-offsets', group, '--to-offset', '1', '--execute'])
  assert.deepEqual(await offsets(), [[1, 3, 2]])
  assert.deepEqual(
    (await consumed(topic, '--group', group)).map(({ payload }) => payload),
    ['2', '3'],
  )
  await millrace(['group', 'delete', group, '--yes'])
  await eventually(() => assertRefused(['group', 'describe', group], /GROUP_ID_NOT_FOUND|there is no group/))
  await millrace(['topic', 'delete', topic, '--yes'])
})
