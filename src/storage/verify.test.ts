import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { buildMarkerBatch } from '../records/control.ts'
import { type DumpEntry, dumpFile } from './dump.ts'
import { append, type Host, onHost, readAll, tryAppend, written } from './fixture.test.ts'
import { type Problem, type VerifiedLog, verifyDirectory } from './verify.ts'

const config = { segmentBytes: 2500, indexIntervalBytes: 300 }
const partition = '/data/topic-0'

async function fill(host: Host): Promise<Buffer[]> {
  const log = await host.openLog()
  for (let index = 0; index < 60; index++) {
    append(log, {
      count: 2,
      valueBytes: 20 + index,
      timestamp: 1000 + index * 3,
      leaderEpoch: index >> 4,
      codec: index % 5,
    })
    append(log, {
      producerId: 5,
      producerEpoch: 0,
      baseSequence: index,
      isTransactional: true,
      leaderEpoch: index >> 4,
    })
    if (index % 5 === 4) {
      const marker = { isCommit: index % 10 === 4, coordinatorEpoch: 2 }
      tryAppend(log, Buffer.from(buildMarkerBatch(marker, 1, { producerId: 5, producerEpoch: 0 })), {
        origin: 'coordinator',
        leaderEpoch: index >> 4,
      })
    }
    await written(host, log)
  }
  const batches = await readAll(log)
  await host.close()
  host.io = host.node.start()
  return batches
}

async function verified(host: Host, path = '/data'): Promise<{ logs: VerifiedLog[]; problems: Problem[] }> {
  const logs: VerifiedLog[] = []
  const run = verifyDirectory(host.io.disk, path)
  for (;;) {
    const step = await run.next()
    if (step.done) return { logs, problems: [...logs.flatMap(log => log.problems), ...step.value] }
    logs.push(step.value)
  }
}

async function dumped(host: Host, name: string, maxUnpackedBytes?: number): Promise<DumpEntry[]> {
  const entries: DumpEntry[] = []
  for await (const entry of dumpFile(host.io.disk, `${partition}/${name}`, { maxUnpackedBytes })) entries.push(entry)
  return entries
}

describe('a log that was closed', () => {
  test('is found without a fault', () =>
    onHost({ config }, async host => {
      const batches = await fill(host)
      const { logs, problems } = await verified(host)
      assert.deepEqual(problems, [])
      const [log] = logs
      assert.deepEqual([log?.batches, log?.startOffset, log?.endOffset], [batches.length, 0, 192])
      assert.deepEqual((await verified(host, partition)).problems, [])
    }))

  test('is shown file by file', () =>
    onHost({ config }, async host => {
      await fill(host)
      const names = host.io.disk.list(partition).map(({ name }) => name)
      const counts = new Map<string, number>()
      for (const name of names) {
        for (const entry of await dumped(host, name, 100_000)) counts.set(entry.type, (counts.get(entry.type) ?? 0) + 1)
      }
      assert.equal(counts.get('batch'), 132)
      assert.equal(counts.get('record'), 192)
      assert.equal(counts.get('abortedTransaction'), 6)
      assert.equal(counts.get('leaderEpoch'), 4)
      assert.equal(counts.get('topicId'), 1)
      assert.equal(counts.get('problem'), undefined)
      assert.ok(
        counts.get('offsetIndexEntry')! > 10 && counts.get('timeIndexEntry')! > 10 && counts.get('producer')! > 2,
      )
    }))
})

describe('damage', () => {
  const first = `${partition}/00000000000000000000`
  const cases: [string, string, number, Problem['severity']][] = [
    ['a batch', '.log', 100, 'damage'],
    ['the offset of an index entry', '.index', 11, 'rebuilt'],
    ['the position of an index entry', '.index', 15, 'rebuilt'],
    ['the timestamp of an index entry', '.timeindex', 7, 'rebuilt'],
    ['an aborted transaction', '.txnindex', 9, 'rebuilt'],
  ]
  for (const [what, suffix, position, severity] of cases) {
    test(`of ${what} is told with its file`, () =>
      onHost({ config }, async host => {
        await fill(host)
        assert.ok(host.node.disk.flip(`${first}${suffix}`.slice(1), position, 4))
        const { problems } = await verified(host)
        assert.ok(problems.length > 0)
        assert.ok(
          problems.some(problem => problem.path === `${first}${suffix}` && problem.severity === severity),
          JSON.stringify(problems),
        )
      }))
  }

  test('of other files is told too', () =>
    onHost({ config }, async host => {
      await fill(host)
      const broken = [
        `${partition}/leader-epoch-checkpoint`,
        `${partition}/partition.metadata`,
        '/data/recovery-point-offset-checkpoint',
        '/data/meta.properties',
      ]
      for (const path of broken) host.io.disk.writeSmallFile(path, Buffer.from('broken'))
      await host.io.disk.remove(`${first}.index`)
      const { problems } = await verified(host)
      const paths = problems.map(({ path }) => path.slice(path.lastIndexOf('/') + 1)).sort()
      assert.deepEqual(paths, [
        '00000000000000000000.index',
        'leader-epoch-checkpoint',
        'meta.properties',
        'partition.metadata',
        'recovery-point-offset-checkpoint',
      ])
    }))

  test('in a dump stands where it is, and what follows is shown', () =>
    onHost({ config }, async host => {
      const batches = await fill(host)
      host.node.disk.flip(`${first}.log`.slice(1), batches[0]!.length + 70, 1)
      const entries = await dumped(host, '00000000000000000000.log')
      assert.deepEqual(entries[1], {
        type: 'problem',
        position: batches[0]!.length,
        length: batches[1]!.length,
        reason: 'the CRC of the batch is wrong',
      })
      assert.equal(entries[2]?.type, 'batch')
    }))

  test('at the end of a log that was not closed is a torn tail, which the next start cuts off', () =>
    onHost({ config }, async host => {
      const log = await host.openLog()
      for (let index = 0; index < 5; index++) append(log)
      await written(host, log)
      host.node.crash('kill')
      host.io = host.node.start()
      const bytes = host.io.disk.readSmallFile(`${first}.log`, 10_000)!
      host.io.disk.writeSmallFile(`${first}.log`, bytes.subarray(0, -7))
      const { problems } = await verified(host)
      const torn = problems.find(({ path }) => path.endsWith('.log'))
      assert.deepEqual([torn?.severity, torn?.offset], ['rebuilt', 4])
    }))
})
