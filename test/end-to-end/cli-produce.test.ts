import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { ApiKey } from '../../src/protocol/apis.ts'
import { startBroker } from '../../src/testing/start-broker.ts'
import type { TestBroker } from '../../src/testing/test-broker.ts'
import { freePorts } from '../compatibility/free-port.ts'
import { consumed, type Ended, endOf, millrace as runMillrace, startMillrace } from './run-millrace.ts'

let broker: TestBroker
before(async () => {
  const overrides = { 'log.retention.ms': '-1' }
  broker = await startBroker({
    topics: { orders: 2, lines: 1, numbered: 1, bytes: 1, small: 1, keyed: 1, typed: 1 },
    overrides,
  })
})
after(() => broker.close())

async function millrace(
  args: readonly string[],
  { input = '', bootstrap = broker.bootstrapServers }: { input?: string | Buffer; bootstrap?: string } = {},
): Promise<Ended> {
  return await runMillrace(args, { input, bootstrap })
}

const recordsOf = (topic: string, ...flags: string[]) => consumed(topic, { bootstrap: broker.bootstrapServers, flags })

async function payloadsOf(topic: string): Promise<unknown[]> {
  return (await recordsOf(topic)).map(({ key, payload }) => (key === null ? payload : `${key}=${payload}`))
}

test('null is a tombstone unless it is said to be a text', async () => {
  const produce = async (input: string, ...flags: string[]) => {
    const { code, stderr } = await millrace(['produce', 'lines', ...flags], { input })
    assert.equal(code, 0, stderr)
  }
  await produce('', '--key', 'a', '--value', 'null')
  await produce('', '--key', 'b', '--value', 'null', '--literal-null')
  await produce('', '--key', 'c', '--tombstone', '-H', 'source=shop')
  await produce('d:null\ne:\n', '-K', ':')
  await produce('null\nnull\n', '--literal-null')
  assert.deepEqual(
    (await recordsOf('lines')).map(({ key, payload, headers }) => [key, payload, headers]),
    [
      ['a', null, []],
      ['b', 'null', []],
      ['c', null, ['source', 'shop']],
      ['d', null, []],
      ['e', '', []],
      [null, 'null', []],
      [null, 'null', []],
    ],
  )
})

test('what consume prints as JSON, produce sends again as it was', async () => {
  await millrace(['produce', 'orders', '-K', ':', '-H', 'source=shop', '-z', 'zstd'], {
    input: 'k1:v1\nk2:v2\nk3:null\n',
  })
  const lines = await millrace(['consume', 'orders', '--from-beginning', '--exit', '--json'])
  await millrace(['topic', 'create', 'copy', '--partitions', '1'])
  const sent = await millrace(['produce', 'copy', '--from-json'], { input: lines.stdout })
  assert.deepEqual(sent, { code: 0, stdout: '', stderr: '3 records sent to copy.\n' })
  const essence = (records: Record<string, unknown>[]) =>
    records.map(({ ts, key, payload, headers }) => JSON.stringify({ ts, key, payload, headers })).sort()
  assert.deepEqual(essence(await recordsOf('copy')), essence(await recordsOf('orders')))
})

test('a line that is no record ends produce with its number, after those before it', async () => {
  const noSeparator = await millrace(['produce', 'numbered', '-K', ':'], { input: 'a:1\nb:2\nno key\nd:4\n' })
  const because = 'line 3: there is no separator ":" in it: "no key". 2 records were sent: the lines before it\n'
  assert.deepEqual(noSeparator, { code: 1, stdout: '', stderr: because })
  const noJson = await millrace(['produce', 'numbered', '--from-json'], { input: '{"payload":"3"}\nnot json\n' })
  const said = 'line 2: this is no JSON: not json. 1 record was sent: the lines before it\n'
  assert.deepEqual(noJson, { code: 1, stdout: '', stderr: said })
  const wrongKey = await millrace(['produce', 'numbered', '--from-json'], { input: '{"key":5}\n' })
  assert.deepEqual(wrongKey, {
    code: 1,
    stdout: '',
    stderr: 'line 1: key is a text or null, not 5. Nothing was sent\n',
  })
  assert.deepEqual(await payloadsOf('numbered'), ['a=1', 'b=2', '3'])
})

test('a line that a broker refuses is named, and what was written of the others', async () => {
  await millrace(['topic', 'alter', 'small', '-c', 'max.message.bytes=1000'])
  const input = `1\n${'x'.repeat(2000)}\n3\n`
  const { code, stdout, stderr } = await millrace(['produce', 'small', '--json'], { input })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^line 2: .*MESSAGE_TOO_LARGE.*\. 2 records of lines 1 to 3 acknowledged, not line 2; no more was read\n$/,
  )
  const sent = stdout.trim().split('\n')
  assert.deepEqual([...sent.map(line => JSON.parse(line).offset)].sort(), [0, 1])
  assert.deepEqual((await payloadsOf('small')).sort(), ['1', '3'])
})

test('a line without a key for a topic that is compacted is refused with the reason', async () => {
  await millrace(['topic', 'alter', 'keyed', '-c', 'cleanup.policy=compact'])
  const { code, stdout, stderr } = await millrace(['produce', 'keyed'], { input: 'no key\n' })
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
  assert.match(
    stderr,
    /^line 1: keyed-0: INVALID_RECORD: .*without key.* needs a key\. Nothing was acknowledged; no more was read\n$/,
  )
})

test('bytes go through as they are, whatever they are', async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28])
  const input = Buffer.concat([bytes, Buffer.from('\na\u2028b\rc\n')])
  assert.equal((await millrace(['produce', 'bytes'], { input })).code, 0)
  const consuming = startMillrace(['consume', 'bytes', '--from-beginning', '--exit'], broker.bootstrapServers)
  const chunks: Buffer[] = []
  for await (const chunk of consuming.stdout) chunks.push(chunk)
  assert.equal(Buffer.concat(chunks).toString('hex'), input.toString('hex'))
})

test('a line leaves when it is there, and a stop says how far it came', async () => {
  const producing = startMillrace(['produce', 'typed', '--json'], broker.bootstrapServers)
  producing.stdin.write('first\nsecond, not at its e')
  const [chunk] = await once(producing.stdout, 'data')
  assert.equal(JSON.parse(chunk).offset, 0)
  producing.kill('SIGINT')
  const { code, stderr } = await endOf(producing)
  assert.deepEqual({ code, stderr }, { code: 1, stderr: 'stopped: 1 record sent, the input is not at its end\n' })
  assert.deepEqual(await payloadsOf('typed'), ['first'])
})

test('a file takes several reads, and a line may lie across them', async () => {
  const lines = Array.from({ length: 3000 }, (_, index) => `${index}${'.'.repeat(97)}`)
  await millrace(['topic', 'create', 'many', '-p', '1'])
  const sent = await millrace(['produce', 'many'], { input: lines.join('\n') })
  assert.deepEqual(sent, { code: 0, stdout: '', stderr: '3000 records sent to many.\n' })
  const { stdout } = await millrace(['consume', 'many', '--from-beginning', '--exit'])
  assert.ok(stdout === `${lines.join('\n')}\n`, 'the same lines in the same order')
})

test('--timeout bounds a send', async () => {
  await using deaf = await brokerThatAnswersNoProduce()
  const began = performance.now()
  const { code, stdout, stderr } = await millrace(['produce', 'two', '--value', 'x', '--timeout', '1'], {
    bootstrap: deaf.bootstrapServers,
  })
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
  assert.match(stderr, /^1 record for two-0 was not acknowledged within 1000 ms[:\n]/)
  assert.ok(performance.now() - began < 9000)
})

/** Clients are told of a proxy's address alone, and it keeps Produce requests back. */
async function brokerThatAnswersNoProduce(): Promise<AsyncDisposable & { readonly bootstrapServers: string }> {
  const [port, controllerPort] = await freePorts(2)
  const proxy = createServer(client => {
    const server = connect(port, '127.0.0.1')
    for (const socket of [client, server]) socket.on('error', () => {})
    client.on('data', (chunk: Buffer) => chunk.readInt16BE(4) !== ApiKey.produce && server.write(chunk))
    client.on('close', () => server.destroy())
    server.pipe(client)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const bootstrapServers = `127.0.0.1:${(proxy.address() as { port: number }).port}`
  const overrides = {
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://${bootstrapServers}`,
  }
  const own = await startBroker({ topics: { two: 1 }, overrides })
  return {
    bootstrapServers,
    [Symbol.asyncDispose]: async () => {
      proxy.close()
      await own.close()
    },
  }
}
