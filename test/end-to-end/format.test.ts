import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { type Ended, millrace } from './run-millrace.ts'

const otherCluster = 'MkU3OEVBNTcwNTJENDM2Qg'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-format-'))
})
afterEach(() => rm(directory, { recursive: true }))

/** A node with these directories of the test's own. */
async function format(names: readonly string[], ...flags: string[]): Promise<Ended> {
  const settings = ['process.roles=broker,controller', `log.dirs=${names.map(name => join(directory, name)).join(',')}`]
  const args = ['format', '--standalone', '--json', ...settings.flatMap(setting => ['-o', setting]), ...flags]
  return await millrace(args, { bootstrap: 'localhost:1' })
}

async function clusterOf(name: string): Promise<string | undefined> {
  const text = await readFile(join(directory, name, 'meta.properties'), 'utf8')
  return /^cluster\.id=(.*)$/m.exec(text)?.[1]
}

test('a directory that is added joins the cluster of those that are formatted', async () => {
  const first = await format(['a'])
  assert.equal(first.code, 0, first.stderr)
  const { clusterId } = JSON.parse(first.stdout)
  const added = await format(['a', 'b'], '--ignore-formatted')
  assert.deepEqual(JSON.parse(added.stdout), {
    clusterId,
    formatted: [join(directory, 'b')],
    alreadyFormatted: [join(directory, 'a')],
  })
  assert.deepEqual([await clusterOf('a'), await clusterOf('b')], [clusterId, clusterId])
  const nothing = await format(['a', 'b'], '--ignore-formatted', '--cluster-id', clusterId)
  assert.deepEqual([nothing.code, JSON.parse(nothing.stdout).clusterId], [0, clusterId])
})

test('another cluster id than that of the directories that are formatted is refused, and none is formatted', async () => {
  const { clusterId } = JSON.parse((await format(['a'])).stdout)
  const { code, stdout, stderr } = await format(['a', 'b'], '--ignore-formatted', '--cluster-id', otherCluster)
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
  const said = `--cluster-id ${otherCluster} is not that of ${join(directory, 'a')}, which is formatted for cluster ${clusterId}`
  assert.equal(stderr, `${said}: leave it out\n`)
  assert.equal(existsSync(join(directory, 'b')), false)
})

test('the environment may name the cluster, as with the image of Kafka, and the option comes before it', async () => {
  const settings = ['-o', 'process.roles=broker,controller', '-o', `log.dirs=${join(directory, 'a')}`]
  const run = (CLUSTER_ID: string, ...flags: string[]) =>
    millrace(['format', '--standalone', ...settings, ...flags], { bootstrap: 'localhost:1', env: { CLUSTER_ID } })
  const wrong = await run('production')
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /^CLUSTER_ID in the environment: given production, allowed: an id of 22 characters/)
  assert.equal(existsSync(join(directory, 'a')), false)
  assert.equal((await run(otherCluster)).code, 0)
  assert.equal(await clusterOf('a'), otherCluster)
  await rm(join(directory, 'a'), { recursive: true })
  const given = '4L6g3nShT-eMCtK--X86sw'
  assert.equal((await run(otherCluster, '--cluster-id', given)).code, 0)
  assert.equal(await clusterOf('a'), given)
})

test('directories of two clusters are refused', async () => {
  await format(['a'])
  await format(['b'], '--cluster-id', otherCluster)
  const { code, stderr } = await format(['a', 'b', 'c'], '--ignore-formatted')
  assert.equal(code, 1)
  assert.match(stderr, /b is of cluster MkU3OEVBNTcwNTJENDM2Qg, .*a of .*: log\.dirs mixes two clusters\n$/)
  assert.equal(existsSync(join(directory, 'c')), false)
})
