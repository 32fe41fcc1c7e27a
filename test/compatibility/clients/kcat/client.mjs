// kcat does the work; this only turns the protocol into its options and its output into events.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { emit, main, recordsOf, stopRequested } from '../shared/driver.mjs'

const PARTITION_EOF_ENDS = '-e'

/** Runs kcat, hands each line of its two outputs on, and resolves with its exit code. */
function kcat(args, { stdin, onLine = () => {}, onStderr = line => process.stderr.write(`${line}\n`) }) {
  const child = spawn('kcat', args, { stdio: ['pipe', 'pipe', 'pipe'] })
  createInterface({ input: child.stdout }).on('line', onLine)
  createInterface({ input: child.stderr }).on('line', onStderr)
  if (stdin !== undefined) child.stdin.end(stdin)
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(signal ?? code))
  })
  return { child, ended }
}

async function kcatOrThrow(args, options) {
  const code = await kcat(args, options).ended
  if (code !== 0) throw new Error(`kcat ${args.join(' ')} ended with ${code}`)
}

function emitRecord(line) {
  const { topic, partition, offset, ts, key, payload, headers = [] } = JSON.parse(line)
  const pairs = []
  for (let i = 0; i < headers.length; i += 2) pairs.push([headers[i], headers[i + 1]])
  emit('record', { topic, partition, offset, timestamp: ts, key, value: payload, headers: Object.fromEntries(pairs) })
}

async function produce(bootstrap, { jobs, settings = {} }) {
  const more = Object.entries(settings).flatMap(([key, value]) => ['-X', `${key}=${value}`])
  for (const job of jobs) {
    const options = [...more, '-X', 'linger.ms=20', '-X', 'acks=all', '-X', `enable.idempotence=${job.idempotent}`]
    const lines = recordsOf(job).map(({ key, value }) => `${key}:${value}\n`)
    const what = ['-P', '-b', bootstrap, '-t', job.topic, '-z', job.codec, '-K', ':', '-H', `job=${job.prefix}`]
    await kcatOrThrow([...what, ...options], { stdin: lines.join('') })
  }
}

/** This driver's own, as Java's and confluent-python's: kcat sends all that it reads in one transaction, and commits it. */
async function transact(bootstrap, { id, jobs }) {
  await produce(bootstrap, { jobs, settings: { 'transactional.id': id } })
}

async function consume(bootstrap, { topics, from, settings = {} }) {
  const offset = from === 'start' ? 'beginning' : `s@${from}`
  for (const topic of topics) {
    const options = Object.entries(settings).flatMap(([key, value]) => ['-X', `${key}=${value}`])
    const what = ['-C', '-b', bootstrap, '-t', topic, '-o', offset, '-J', '-q', PARTITION_EOF_ENDS, ...options]
    await kcatOrThrow(what, { onLine: emitRecord })
  }
}

/**
 * kcat tells of the group on standard error, in one of two forms:
 * `% Group g rebalanced (memberid m): assigned: t [0], t [1]` and, with a cooperative assignor,
 * `% Group g rebalanced: incremental assignment of 2 partition(s) (memberid m, …): t [0], t [1]`.
 */
async function member(bootstrap, { topic, group, assignor, settings: more = {} }) {
  const held = new Set()
  const onStderr = line => {
    const change = /rebalanced(?: \(.*?\))?: (incremental )?(assign|revoke)(.*)$/.exec(line)
    if (change === null) return process.stderr.write(`${line}\n`)
    const [, incremental, what, list] = change
    if (incremental === undefined) held.clear()
    for (const [, partition] of list.matchAll(/\[(\d+)\]/g)) {
      what === 'assign' ? held.add(Number(partition)) : held.delete(Number(partition))
    }
    emit('assigned', { partitions: [...held] })
  }
  const settings = {
    'auto.offset.reset': 'earliest',
    'partition.assignment.strategy': assignor === 'eager' ? 'range' : 'cooperative-sticky',
    'auto.commit.interval.ms': 100,
    'session.timeout.ms': 6000,
    'heartbeat.interval.ms': 500,
    ...more,
  }
  const options = Object.entries(settings).flatMap(([key, value]) => ['-X', `${key}=${value}`])
  const { child, ended } = kcat(['-b', bootstrap, '-J', '-u', ...options, '-G', group, topic], {
    onLine: emitRecord,
    onStderr,
  })
  const left = await Promise.race([stopRequested().then(() => 'asked'), ended])
  if (left !== 'asked') throw new Error(`kcat left by itself with ${left}`)
  child.kill('SIGTERM')
  const code = await ended
  if (code !== 0) throw new Error(`kcat ended with ${code}`)
}

await main({ produce, consume, member, transact })
