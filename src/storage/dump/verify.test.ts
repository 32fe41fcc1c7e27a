import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildMarkerBatch } from '../../records/control.ts'
import { batchOf, type Host, onHost, tryAppend, written } from '../fixture.test.ts'
import { dump } from './dump.ts'
import type { DumpItem } from './dump-item.ts'
import { type Problem, verify } from './verify.ts'

const partition = '/data/topic-0'
const file = (offset: number, kind: string) => `${partition}/${String(offset).padStart(20, '0')}.${kind}`
const options = { config: { segmentBytes: 40_000, indexIntervalBytes: 4096 } }

/** A clean stopped directory: three segments, two leader epochs, an idempotent producer, an aborted and an open transaction. */
async function stopped(host: Host): Promise<void> {
  const log = await host.openLog()
  const transactional = { producerId: 8, producerEpoch: 0, isTransactional: true }
  const add = async (batch: Buffer, leaderEpoch: number, origin: 'client' | 'coordinator' = 'client') => {
    const offset = tryAppend(log, batch, { leaderEpoch, origin })
    assert.equal(typeof offset, 'number', JSON.stringify(offset))
    await written(host, log)
  }
  await add(batchOf({ ...transactional, baseSequence: 0 }), 0)
  for (let index = 0; index < 60; index++) {
    const leaderEpoch = index < 40 ? 0 : 2
    const fields = { producerId: 7, producerEpoch: 1, baseSequence: index * 2 }
    await add(batchOf({ count: 2, valueBytes: 700, timestamp: 2000 + index * 10, ...fields }), leaderEpoch)
    if (index !== 20) continue
    const marker = buildMarkerBatch({ isCommit: false, coordinatorEpoch: 1 }, 2500, transactional)
    await add(Buffer.from(marker), 0, 'coordinator')
  }
  await add(batchOf({ ...transactional, baseSequence: 1 }), 2)
  await host.close()
  host.io = host.node.start()
}

async function problemsOf(host: Host, path = '/data'): Promise<string[]> {
  const problems: Problem[] = []
  const result = await verify(host.io.disk, path, problem => problems.push(problem))
  assert.equal(result.type, 'verified')
  assert.equal(result.type === 'verified' && result.problems, problems.length)
  return problems.map(
    ({ path: at, position, problem, isMended }) =>
      `${at.slice(6)} ${position ?? '-'}: ${problem}${isMended ? ', mended' : ''}`,
  )
}

function segmentsOf(host: Host): number[] {
  const names = host.io.disk.list(partition).map(entry => entry.name)
  return names
    .filter(name => name.endsWith('.log'))
    .map(name => Number(name.slice(0, 20)))
    .sort((a, b) => a - b)
}

test('what a broker leaves behind is in order', () =>
  onHost(options, async host => {
    await stopped(host)
    const names = host.io.disk.list(partition).map(entry => entry.name)
    assert.equal(names.filter(name => name.endsWith('.log')).length, 3)
    assert.ok(names.some(name => name.endsWith('.txnindex')))
    assert.deepEqual(await problemsOf(host), [])
    assert.deepEqual(await problemsOf(host, partition), [])
  }))

test('a flipped bit anywhere in the files of a partition is found, and the place is named', () =>
  onHost(options, async host => {
    await stopped(host)
    const { disk } = host.io
    const unseen: string[] = []
    for (const { name } of disk.list(partition)) {
      const path = `${partition}/${name}`
      const { sizeBytes } = disk.status(path) ?? { sizeBytes: 0 }
      for (const position of [0, 1, 2, 3].map(part => Math.floor((sizeBytes * part) / 4))) {
        if (!host.node.disk.flip(path, position, 0x40)) continue
        const problems = await problemsOf(host)
        if (!problems.some(problem => problem.startsWith(`topic-0/${name} `))) unseen.push(`${name} at ${position}`)
        host.node.disk.flip(path, position, 0x40)
      }
    }
    assert.deepEqual(await problemsOf(host), [])
    assert.deepEqual(unseen, [])
  }))

test('how far damage reaches is told, in bytes and in offsets', () =>
  onHost(options, async host => {
    await stopped(host)
    const batches: (DumpItem & { type: 'batch' })[] = []
    const show = (item: DumpItem) => item.type === 'batch' && batches.push(item)
    await dump(host.io.disk, file(0, 'log'), { withRecords: false, show })
    // The length of the fourth and the sum of the fifth are damaged, which is one gap, and the sum of the last.
    assert.ok(host.node.disk.flip(file(0, 'log'), batches[3].position + 10, 0x40))
    assert.ok(host.node.disk.flip(file(0, 'log'), batches[4].position + 17, 0x40))
    assert.ok(host.node.disk.flip(file(0, 'log'), batches.at(-1)!.position + 17, 0x40))
    const [inside, atEnd] = await problemsOf(host)
    const lost = `offsets ${batches[3].batch.baseOffset} to ${batches[5].batch.baseOffset - 1}`
    assert.match(inside, new RegExp(`, up to byte ${batches[5].position}: ${lost}$`))
    const [, next] = segmentsOf(host)
    const { sizeBytes } = host.io.disk.status(file(0, 'log'))!
    assert.match(
      atEnd,
      new RegExp(`, up to byte ${sizeBytes}: offsets ${batches.at(-1)!.batch.baseOffset} to ${next - 1}$`),
    )
  }))

test('a torn tail, and a segment that is gone, are told apart', () =>
  onHost(options, async host => {
    await stopped(host)
    const { disk } = host.io
    const segments = disk
      .list(partition)
      .map(entry => entry.name)
      .filter(name => name.endsWith('.log'))
      .sort()
    const last = disk.open(`${partition}/${segments[2]}`, 'append')
    last.truncate(last.sizeBytes - 10)
    last.release()
    const torn = await problemsOf(host)
    assert.match(torn[0], /cut off, and nothing whole follows, mended/)
    await disk.remove(`${partition}/${segments[1]}`)
    assert.ok((await problemsOf(host)).some(problem => /the segment is missing/.test(problem)))
  }))

test('what the next start makes anew is told as such, also where it is missing', () =>
  onHost(options, async host => {
    await stopped(host)
    await host.io.disk.remove(file(0, 'index'))
    assert.deepEqual(await problemsOf(host), [`topic-0/${'0'.repeat(20)}.index -: the file is missing, mended`])
  }))

test('a partition without its topic id is told, unless it was only being made', () =>
  onHost(options, async host => {
    await stopped(host)
    await host.io.disk.remove(`${partition}/partition.metadata`)
    const problem = 'the file is missing: without the topic id the partition is not served'
    assert.deepEqual(await problemsOf(host), [`topic-0/partition.metadata -: ${problem}`])
    host.io.disk.makeDirectory('/data/young-0')
    assert.equal((await problemsOf(host)).length, 1)
  }))

test('a checkpoint beyond the end of a log is told', () =>
  onHost(options, async host => {
    await stopped(host)
    host.io.disk.writeSmallFile('/data/recovery-point-offset-checkpoint', Buffer.from('0\n1\ntopic 0 9999\n'))
    host.io.disk.writeSmallFile('/data/replication-offset-checkpoint', Buffer.from('0\n1\n'))
    assert.deepEqual(await problemsOf(host), [
      'recovery-point-offset-checkpoint -: topic-0 was flushed up to 9999, but its log ends at 123',
      'replication-offset-checkpoint -: the checkpoint is damaged',
    ])
  }))

test('a directory in use, and one that is no log, are not checked', () =>
  onHost(options, async host => {
    await host.openLog()
    const never = () => assert.fail('nothing is reported')
    assert.deepEqual(await verify(host.io.disk, '/data', never), { type: 'inUse', path: '/data' })
    await host.close()
    host.io = host.node.start()
    host.io.disk.makeDirectory('/other')
    assert.deepEqual(await verify(host.io.disk, '/other', never), { type: 'notALog', path: '/other' })
    await assert.rejects(verify(host.io.disk, '/absent', never), { code: 'notFound' })
  }))

test('a dump shows every file, batches around damage, and records when asked', () =>
  onHost(options, async host => {
    await stopped(host)
    const shown = async (withRecords: boolean) => {
      const items: DumpItem[] = []
      await dump(host.io.disk, '/data', { withRecords, show: item => items.push(item) })
      return items
    }
    const count = (items: readonly DumpItem[], type: DumpItem['type']) =>
      items.filter(item => item.type === type).length
    const whole = await shown(true)
    assert.equal(count(whole, 'batch'), 63)
    assert.equal(count(whole, 'record'), 123)
    assert.equal(count(whole, 'damage'), 0)
    for (const type of [
      'offsetIndexEntry',
      'timeIndexEntry',
      'abortedTransaction',
      'producer',
      'leaderEpoch',
    ] as const) {
      assert.ok(count(whole, type) > 0, type)
    }
    const control = whole.filter(item => item.type === 'record').find(item => item.decoded !== undefined)
    assert.equal(control?.decoded?.type, 'abort')
    assert.ok(host.node.disk.flip(file(0, 'log'), 3000, 1))
    const damaged = await shown(false)
    assert.equal(count(damaged, 'damage'), 1)
    assert.equal(count(damaged, 'batch'), 62)
    assert.equal(count(damaged, 'record'), 0)
  }))
