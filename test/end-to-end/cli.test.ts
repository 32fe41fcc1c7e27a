import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, writeSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { createClient } from '../../src/client/index.ts'
import { startBroker } from '../../src/testing/start-broker.ts'
import type { TestBroker } from '../../src/testing/test-broker.ts'
import { freePorts } from '../compatibility/free-port.ts'
import { commandOf, consumed, type Ended, endOf, millrace as runMillrace, startMillrace } from './run-millrace.ts'

let broker: TestBroker
before(async () => {
  broker = await startBroker({ topics: { orders: 2, lines: 1 }, overrides: { 'log.retention.ms': '-1' } })
})
after(() => broker.close())

function start(args: readonly string[]): ChildProcessWithoutNullStreams {
  return startMillrace(args, broker.bootstrapServers)
}

async function millrace(
  args: readonly string[],
  { input = '', bootstrap = broker.bootstrapServers } = {},
): Promise<Ended> {
  return await runMillrace(args, { input, bootstrap })
}

/** What a command that must succeed printed as JSON. */
async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await millrace([...args, '--json'])
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  return JSON.parse(stdout)
}

const recordsOf = (topic: string, ...flags: string[]) => consumed(topic, { bootstrap: broker.bootstrapServers, flags })

test('topics are created, listed, described, altered and deleted', async () => {
  const created = await millrace(['topic', 'create', 'life', '--partitions', '2', '--config', 'retention.ms=5000'])
  assert.deepEqual(created, { code: 0, stdout: 'life created: 2 partitions, 1 replica each.\n', stderr: '' })
  const again = await millrace(['topic', 'create', 'life'])
  assert.equal(again.code, 1)
  assert.match(again.stderr, /^topic life: TOPIC_ALREADY_EXISTS.*\n$/)
  const listed = await json<{ name: string; partitions: number }[]>('topic', 'list')
  assert.equal(listed.find(one => one.name === 'life')?.partitions, 2)
  const altered = await millrace(['topic', 'alter', 'life', '--partitions', '3'])
  assert.equal(altered.code, 0, altered.stderr)
  const [described] = await json<{ partitions: unknown[] }[]>('topic', 'describe', 'life')
  assert.equal(described.partitions.length, 3)
  assert.equal((await millrace(['topic', 'delete', 'life', '--yes'])).code, 0)
  const gone = await millrace(['topic', 'describe', 'life'])
  assert.equal(gone.code, 1)
  assert.match(gone.stderr, /^topic life: UNKNOWN_TOPIC_OR_PARTITION.*\n$/)
})

test('an offset that retention has taken away is passed over', async () => {
  await millrace(['topic', 'create', 'short', '-p', '2'])
  await millrace(['produce', 'short', '-p', '0'], { input: 'a\nb\nc\n' })
  await using client = createClient({ bootstrapServers: broker.bootstrapServers })
  await client.admin().deleteRecords([{ topic: 'short', partition: 0, beforeOffset: 2 }])
  const { code, stdout } = await millrace(['consume', 'short', '--offset', '1', '--exit'])
  assert.deepEqual({ code, stdout }, { code: 0, stdout: 'c\n' })
})

test('a group goes on after what was printed, and is reset', async () => {
  await millrace(['topic', 'create', 'grouped', '--partitions', '1'])
  await millrace(['produce', 'grouped'], { input: '1\n2\n3\n4\n5\n' })
  const first = await recordsOf('grouped', '--group', 'billing', '-n', '2')
  const rest = await recordsOf('grouped', '--group', 'billing')
  assert.deepEqual([first.length, rest.length], [2, 3])
  interface Described {
    readonly offsets: readonly { readonly committed: number; readonly end: number; readonly lag: number }[]
  }
  const [{ offsets }] = await json<Described[]>('group', 'describe', 'billing')
  assert.deepEqual([offsets[0].committed, offsets[0].end, offsets[0].lag], [5, 5, 0])
  const plan = await json<{ executed: boolean }>('group', 'reset-offsets', 'billing', '--to-offset', '1')
  assert.equal(plan.executed, false)
  await json('group', 'reset-offsets', 'billing', '--to-offset', '1', '--execute')
  assert.equal((await recordsOf('grouped', '--group', 'billing')).length, 4)
  assert.equal((await millrace(['group', 'delete', 'billing', '--yes'])).code, 0)
  assert.equal((await millrace(['group', 'describe', 'billing'])).code, 1)
})

test('of several things to delete it is told which are gone and which are not', async () => {
  await millrace(['topic', 'create', 'gone'])
  const { code, stdout, stderr } = await millrace(['topic', 'delete', 'absent', 'gone', 'missing', '--yes'])
  assert.deepEqual({ code, stdout }, { code: 1, stdout: 'gone deleted.\n' })
  assert.match(stderr, /^topic absent: UNKNOWN_TOPIC_OR_PARTITION.*\ntopic missing: UNKNOWN_TOPIC_OR_PARTITION.*\n$/)
  const none = await millrace(['group', 'delete', 'absent', '--yes', '--json'])
  assert.deepEqual([none.code, none.stdout], [1, '[]\n'])
})

test('of several things to describe those that are there are shown, and the others named', async () => {
  await millrace(['topic', 'create', 'there', '--partitions', '1'])
  const topics = await millrace(['topic', 'describe', 'absent', 'there', '--json'])
  assert.equal(topics.code, 1)
  assert.deepEqual(
    JSON.parse(topics.stdout).map(({ name }: { name: string }) => name),
    ['there'],
  )
  assert.match(topics.stderr, /^topic absent: UNKNOWN_TOPIC_OR_PARTITION.*\n$/)
  await millrace(['produce', 'there', '--value', 'x'])
  await recordsOf('there', '--group', 'reading')
  const groups = await millrace(['group', 'describe', 'absent', 'reading'])
  assert.equal(groups.code, 1)
  assert.match(groups.stdout, /^reading: Empty, /)
  assert.match(groups.stderr, /^group absent: GROUP_ID_NOT_FOUND.*\n$/)
  const none = await millrace(['group', 'describe', 'absent', '--json'])
  assert.deepEqual([none.code, none.stdout], [1, '[]\n'])
})

test('a reset tells of offsets that are not there, and invents none', async () => {
  await millrace(['topic', 'create', 'reset', '--partitions', '1'])
  await millrace(['produce', 'reset'], { input: '1\n2\n' })
  const shifted = await millrace(['group', 'reset-offsets', 'fresh', '-t', 'reset', '--shift-by', '1'])
  const because = 'nothing is committed in reset-0, so there is nothing to shift from\n'
  assert.deepEqual(shifted, { code: 1, stdout: '', stderr: because })
  const beyond = await millrace(['group', 'reset-offsets', 'fresh', '-t', 'reset', '--to-offset', '9', '--execute'])
  assert.equal(beyond.code, 0, beyond.stderr)
  assert.match(beyond.stdout, /^reset +0 +- +2\nNot there, so the nearest is taken: reset-0\.\nDone\.$/m)
})

test('what nobody could read is not committed', async () => {
  await millrace(['topic', 'create', 'unread', '--partitions', '1'])
  const input = Array.from({ length: 20_000 }, (_, index) => `record ${index}`).join('\n')
  await millrace(['produce', 'unread'], { input })
  const consuming = start(['consume', 'unread', '--from-beginning', '-g', 'reader'])
  consuming.stdout.destroy()
  await once(consuming, 'exit')
  assert.equal((await recordsOf('unread', '--group', 'reader')).length, 20_000)
})

test('consume joins a group whose other member knows range only', async () => {
  await millrace(['topic', 'create', 'shared', '--partitions', '2'])
  await millrace(['produce', 'shared'], { input: '1\n2\n' })
  const client = createClient({ bootstrapServers: broker.bootstrapServers })
  const other = client.consumer({ groupId: 'mixed', assignors: ['range'], heartbeatIntervalMs: 100 })
  other.subscribe(['shared'])
  await other.poll({ timeoutMs: 5000 })
  let ended: Ended | undefined
  const consuming = millrace(['consume', 'shared', '--group', 'mixed', '--exit']).then(end => {
    ended = end
  })
  while (ended === undefined) await other.poll({ timeoutMs: 50 })
  await consuming
  await client.close()
  assert.deepEqual([ended.code, ended.stderr], [0, ''])
})

test('settings are read and written', async () => {
  const { code, stderr } = await millrace(['config', 'set', '--topic', 'orders', 'retention.ms=1000'])
  assert.equal(code, 0, stderr)
  const { stdout } = await millrace(['config', 'get', '--topic', 'orders', '--json'])
  assert.match(stdout, /"retention\.ms".*"1000"/)
  const bad = await millrace(['config', 'set', '--topic', 'orders', 'retention.ms=soon'])
  assert.equal(bad.code, 1)
  assert.match(bad.stderr, /retention\.ms/)
})

const wrongCalls: readonly [args: readonly string[], said: RegExp][] = [
  [['nope'], /unknown command 'nope'\n\(millrace --help/],
  [['topcs', 'list'], /unknown command 'topcs'\n\(Did you mean topic\?\)\n/],
  [['topic', 'creat', 'x'], /unknown command 'creat'\n\(Did you mean create\?\)\n/],
  [['help', 'nope'], /unknown command 'nope'/],
  [['topic', 'create'], /missing required argument 'name'\n\(millrace topic create --help /],
  [['topic', 'create', 'x', '--partitions', 'many'], /^--partitions many: a whole number from 1 to 2147483647 is/],
  [['topic', 'create', 'x', '-p', '2147483648'], /^-p 2147483648: a whole number from 1 to 2147483647 is/],
  [['topic', 'create', 'x', '-r', '40000'], /^-r 40000: a whole number from 1 to 32767 is/],
  [['topic', 'create', 'x', '-c', 'retention.ms'], /^-c retention\.ms: KEY=VALUE is/],
  [['topic', 'list', '-b', 'bad'], /^-b bad: HOST:PORT, /],
  [['topic', 'list', '--bootstrap', 'h:1,h:99999'], /^--bootstrap h:1,h:99999: HOST:PORT, /],
  [
    ['topic', 'list', '--timeout', 'Infinity'],
    /^--timeout Infinity: a number of seconds above 0, and at most 2147483, is/,
  ],
  [['consume', 'orders', '-o', 'zzz'], /^-o zzz: beginning, end, an offset, -N, @MILLISECONDS or @DATE/],
  [['consume', 'orders', '--offset', '@yesterday 1'], /^--offset "@yesterday 1": beginning, end, /],
  [['consume', 'orders', '--offset=@9007199254740992'], /^--offset @9007199254740992: beginning, end, /],
  [
    ['consume', 'orders', '-o', '1', '--from-beginning'],
    /'-o, --offset <where>' cannot be used with option '--from-beg/,
  ],
  [['consume', 'orders', '-p', 'x'], /^-p x: a whole number from 0 to 2147483647 is/],
  [['consume', 'orders', '-en', '0'], /^-n 0: a whole number from 1 to 9007199254740991 is/],
  [['consume', 'orders', '-g', ''], /^-g "": a name is/],
  [['consume', 'orders', '--group', 'g', '--partition', '0'], /^--group decides/],
  [['produce', 'orders', '--acks', '2'], /^--acks 2: all, 1 or 0 is/],
  [['produce', 'orders', '-z', 'rar'], /^-z rar: none, gzip, snappy, lz4 or zstd is/],
  [['produce', 'orders', '--header', 'x'], /^--header x: KEY=VALUE is/],
  [['produce', 'orders', '-K', ''], /^-K "": a text between key and value is/],
  [
    ['produce', 'orders', '-K', ':', '-k', 'x'],
    /'-K, --key-separator <text>' cannot be used with option '-k, --key <text>'/,
  ],
  [['produce', 'orders', '--tombstone', '--value', 'x'], /'--tombstone' cannot be used with option '--value <text>'/],
  [['group', 'reset-offsets', 'g'], /^say one of --to-earliest/],
  [['group', 'reset-offsets', 'g', '--shift-by', ''], /^--shift-by "": a whole number, such as 10 or -10, is/],
  [['group', 'reset-offsets', 'g', '--by-duration', '5'], /^--by-duration 5: a duration such as 30s, 15m, 6h or 7d is/],
  [['group', 'reset-offsets', 'g', '--to-datetime', 'May 1'], /^--to-datetime "May 1": a date such as 2026-11-29 or/],
  [['config', 'get', '--broker', ''], /^--broker "": a whole number from 0 to 2147483647 is/],
  [['config', 'set', '--topic', 'orders', 'x'], /^x: KEY=VALUE, KEY\+=VALUE or KEY-=VALUE is/],
  [['format', '--cluster-id', 'x'], /^--cluster-id x: an id of 22 characters of base64url is/],
  [['start', '-o', 'foo'], /^-o foo: KEY=VALUE is/],
  [['start', '-o', 'num.partitions=zzz'], /^-o num\.partitions: given "zzz", allowed: a whole number of at least 1$/m],
  [
    ['start', '-o', 'num.partition=3', '-o', 'num.partitions=zzz'],
    /^-o: num\.partition is not a setting of .*; did you mean num\.partitions\?\n-o num\.partitions: given "zzz", allowed: /,
  ],
  [
    ['start', '--override', 'listeners=SSL://localhost:1'],
    /^--override listeners: given "SSL:\/\/localhost:1", allowed: PLAIN.*\n$/,
  ],
  [['start', '-c', '/absent/server.properties'], /^-c \/absent\/server\.properties: there is no such file$/m],
]

test('what is called or configured wrongly ends with 2, says what is wrong as it was typed, and nothing on stdout', async () => {
  for (let at = 0; at < wrongCalls.length; at += 4) {
    await Promise.all(
      wrongCalls.slice(at, at + 4).map(async ([args, said]) => {
        const { code, stdout, stderr } = await millrace(args)
        assert.equal(code, 2, `${args.join(' ')}: ${stderr}`)
        assert.match(stderr, said)
        assert.equal(stdout, '')
      }),
    )
  }
  const { code, stderr } = await millrace(['topic', 'list'], { bootstrap: 'bad' })
  assert.deepEqual({ code, stderr: stderr.slice(0, 33) }, { code: 2, stderr: 'MILLRACE_BOOTSTRAP=bad: HOST:PORT' })
})

test('a configuration is read from a file or from what the shell has opened, and nothing else is waited for', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-fifo-'))
  try {
    const fifo = join(directory, 'server.properties')
    execFileSync('mkfifo', [fifo])
    for (const path of [fifo, '/dev/zero']) {
      const { code, stderr } = await millrace(['start', '-c', path])
      assert.deepEqual([code, stderr], [2, `-c ${path}: this is no regular file\n`])
    }
    const [command, ...args] = commandOf(['start', '-c', '/dev/stdin'])
    const script = '(echo "log.segment.bytes=5"; sleep 0.1; echo "num.partitions=0") | "$0" "$@"'
    const child = spawn('sh', ['-c', script, command, ...args])
    const { code, stderr } = await endOf(child)
    assert.equal(code, 2)
    assert.match(stderr, /^\/dev\/stdin, line 1: log\.segment\.bytes: .*\n\/dev\/stdin, line 2: num\.partitions: /)
  } finally {
    await rm(directory, { recursive: true })
  }
})

test('who turns the development profile off by a variable is told so beside what is missing then', async () => {
  process.env.KAFKA_LOG_DIRS = '/nowhere'
  try {
    const { code, stderr } = await millrace(['start'])
    assert.equal(code, 2)
    assert.match(stderr, /^process\.roles: not given, .*\nnode\.id: not given, /)
    assert.match(
      stderr,
      /\nthe development profile, .* is off, since KAFKA_LOG_DIRS is in the environment; -o leaves it on\n$/,
    )
  } finally {
    delete process.env.KAFKA_LOG_DIRS
  }
})

for (const which of ['listeners', 'millrace.admin.listener']) {
  test(`a start on a taken port (${which}) formats no directory`, async () => {
    const parent = await mkdtemp(join(tmpdir(), 'millrace-taken-'))
    const taken = new URL(`http://${broker.bootstrapServers}`).port
    const [free] = await freePorts(1)
    const [port, admin] = which === 'listeners' ? [taken, free] : [free, taken]
    try {
      const settings = [
        `listeners=PLAINTEXT://127.0.0.1:${port}`,
        `millrace.admin.listener=127.0.0.1:${admin}`,
        `log.dirs=${join(parent, 'data')}`,
      ]
      const { code, stderr } = await millrace(['start', ...settings.flatMap(setting => ['-o', setting])])
      assert.equal(code, 1)
      assert.match(stderr, new RegExp(`^${which}: .*cannot listen on .*: another program listens there`))
      assert.deepEqual(readdirSync(parent), [])
    } finally {
      await rm(parent, { recursive: true })
    }
  })
}

test('what is not there is told at once', async () => {
  const began = performance.now()
  const broker = await millrace(['config', 'get', '--broker', '99'])
  assert.deepEqual(broker, { code: 1, stdout: '', stderr: 'there is no broker 99: the cluster has 1 broker (1)\n' })
  const partition = await millrace(['consume', 'orders', '--partition', '7'])
  assert.deepEqual(partition, {
    code: 1,
    stdout: '',
    stderr: 'topic orders has 2 partitions; there is no partition 7\n',
  })
  const offset = await millrace(['consume', 'lines', '--offset', '1000000'])
  assert.equal(offset.code, 1)
  assert.match(offset.stderr, /^offset 1000000 is not there yet: the end is \d+ in partition 0\n$/)
  assert.ok(performance.now() - began < 9000, 'no time is waited out')
})

test('a broker that is not there is told in one line within seconds', async () => {
  const began = performance.now()
  const [port] = await freePorts(1)
  const bootstrap = `127.0.0.1:${port}`
  const ended = await Promise.all(
    [
      ['topic', 'list'],
      ['consume', 'orders'],
      ['produce', 'orders', '--value', 'x'],
    ].map(args => millrace([...args, '--timeout', '2'], { bootstrap })),
  )
  for (const { code, stdout, stderr } of ended) {
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /^no broker answers at 127\.0\.0\.1:\d+: ECONNREFUSED\. .*\n$/)
  }
  assert.ok(performance.now() - began < 15_000)
})

test('Ctrl-C ends consume, and a reader that goes away ends log dump', async () => {
  await millrace(['produce', 'lines', '--value', 'last'])
  const consuming = start(['consume', 'lines', '--from-beginning'])
  let seen = ''
  for await (const chunk of consuming.stdout) {
    seen += chunk
    if (seen.includes('last\n')) break
  }
  consuming.kill('SIGINT')
  assert.deepEqual(await once(consuming, 'exit'), [0, null])

  const dumping = start(['log', 'dump', '--records', broker.directory])
  dumping.stdout.once('data', () => dumping.stdout.destroy())
  assert.equal(await text(dumping.stderr), '')
  if (dumping.exitCode === null) await once(dumping, 'exit')
  assert.equal(dumping.exitCode, 0)
})

test('log verify tells a directory that is in order from one that is damaged, in use or no log', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-cli-'))
  try {
    const own = await startBroker({ topics: { kept: 1 }, overrides: { 'log.dirs': directory } })
    await millrace(['produce', 'kept', '--value', 'x'], { bootstrap: own.bootstrapServers })
    const inUse = await millrace(['log', 'verify', directory])
    assert.equal(inUse.code, 3)
    assert.match(inUse.stderr, /in use by a broker/)
    await own.close()
    const whole = await millrace(['log', 'verify', directory, '--json'])
    assert.equal(whole.code, 0, whole.stdout)
    assert.equal(JSON.parse(whole.stdout).problems, 0)
    const records = await millrace(['log', 'dump', '--records', '--json', join(directory, '__cluster_metadata-0')])
    assert.match(records.stdout, /"decoded":\{"type":"topic","value":\{"name":"kept"/)
    const segment = join(directory, 'kept-0', `${'0'.repeat(20)}.log`)
    const descriptor = openSync(segment, 'r+')
    writeSync(descriptor, Buffer.from([0xff]), 0, 1, 65)
    closeSync(descriptor)
    const damaged = await millrace(['log', 'verify', join(directory, 'kept-0')])
    assert.equal(damaged.code, 1)
    assert.ok(damaged.stdout.startsWith(`${segment} at 0: the CRC of the batch is wrong`), damaged.stdout)
    const absent = join(directory, 'absent')
    for (const command of ['verify', 'dump']) {
      const { code, stdout, stderr } = await millrace(['log', command, absent])
      const said = `${absent}: there is no such file or directory\n`
      assert.deepEqual({ code, stdout, stderr }, { code: 3, stdout: '', stderr: said })
    }
    const file = await millrace(['log', 'verify', segment])
    assert.deepEqual(
      [file.code, file.stderr],
      [3, `${segment} is neither a partition's directory nor a log directory\n`],
    )
    const several = await millrace(['log', 'verify', absent, join(directory, 'kept-0'), import.meta.dirname])
    assert.equal(several.code, 1, 'one that cannot be looked at hides no problem of another')
    assert.match(several.stdout, /kept-0: \d problems?/)
    assert.match(several.stderr, /absent: there is no such.*\n.*end-to-end is neither/)
    await writeFile(join(directory, 'kept-0', 'partition.metadata'), Buffer.from('\x1b[2J\0\xff', 'latin1'))
    const unreadable = await millrace(['log', 'dump', join(directory, 'kept-0', 'partition.metadata')])
    assert.doesNotMatch(unreadable.stdout.replaceAll('\n', ''), /\p{Cc}/u)
  } finally {
    await rm(directory, { recursive: true })
  }
})

test('records that cannot be read end consume --exit, with where it stands', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-unreadable-'))
  const options = {
    topics: { broken: 1 },
    overrides: { 'log.dirs': directory, 'log.segment.bytes': '1048576', 'node.id': '1' },
  }
  const first = await startBroker(options)
  const line = `${'x'.repeat(100_000)}\n`
  const { code } = await runMillrace(['produce', 'broken'], {
    input: line.repeat(30),
    bootstrap: first.bootstrapServers,
  })
  assert.equal(code, 0)
  await first.close()
  const segment = join(directory, 'broken-0', '00000000000000000000.log')
  await rm(segment)
  await mkdir(segment)
  const second = await startBroker({ ...options, topics: {} })
  const ended = await runMillrace(['consume', 'broken', '--from-beginning', '--exit', '--timeout', '1'], {
    bootstrap: second.bootstrapServers,
  })
  await second.close()
  await rm(directory, { recursive: true })
  assert.deepEqual({ code: ended.code, stdout: ended.stdout }, { code: 1, stdout: '' })
  assert.match(ended.stderr, /^nothing came for 1 seconds from partition 0 \(at offset 0, the end is 30\)/)
})

test('a group that has no coordinator is not waited for without an end', async () => {
  const overrides = { 'offsets.topic.replication.factor': '3' }
  await using own = await startBroker({ topics: { orders: 1 }, overrides })
  for (const flags of [[], ['--exit']]) {
    const ended = await runMillrace(['consume', 'orders', '--group', 'billing', '--timeout', '1', ...flags], {
      bootstrap: own.bootstrapServers,
    })
    assert.deepEqual({ code: ended.code, stdout: ended.stdout }, { code: 1, stdout: '' })
    assert.match(
      ended.stderr,
      /^reading offsets of group billing was not done within 1000 ms: .*COORDINATOR_NOT_AVAILABLE/,
    )
  }
})
