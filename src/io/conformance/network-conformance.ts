import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Clock } from '../clock.ts'
import type { Disk, DiskFile } from '../disk.ts'
import { type Connection, type Listener, type Network, NetworkError, type NetworkErrorCode } from '../network.ts'
import { CollectingReceiver } from './collecting-receiver.ts'
import { inHarness, type MakeHarness, watchTurn } from './harness.ts'

export interface NetworkSubject {
  readonly clock: Clock
  readonly server: Network
  readonly client: Network
  /** Where the server listens and is reached: an address, and a name for it. */
  readonly host: string
  readonly hostName: string
  /** The server's, for file ranges. */
  readonly disk: Disk
  readonly directory: string
}

/** What every `Network` must do. */
export function networkConformance(name: string, make: MakeHarness<NetworkSubject>): void {
  const networkTest: NetworkTest = (title, body) => test(title, { timeout: 60_000 }, inHarness(make, body))
  describe(`${name} as a network: connections`, () => connectionConformance(networkTest))
  describe(`${name} as a network: bytes`, () => byteConformance(networkTest))
  describe(`${name} as a network: ends`, () => endConformance(networkTest))
  describe(`${name} as a network: file ranges`, () => rangeConformance(networkTest))
}

type NetworkTest = (title: string, body: (subject: NetworkSubject) => Promise<void>) => void

function connectionConformance(networkTest: NetworkTest): void {
  networkTest('a client connects, by address and by name, and both see each other', async subject => {
    for (const host of [subject.host, subject.hostName]) {
      const pair = await connectPair(subject, host)
      assert.match(pair.server.remoteAddress, /^[0-9.]+$/)
      assert.equal(pair.client.remotePort, pair.listener.endpoint.port)
      assert.equal(pair.server.localPort, pair.listener.endpoint.port)
      assert.equal(pair.server.remotePort, pair.client.localPort)
      await pair.end()
    }
  })

  networkTest('nobody listens: refused; somebody else does: address in use', async subject => {
    const listener = await subject.server.listen({ host: subject.host, port: 0 }, { accept: () => undefined })
    await assertRejects(subject.server.listen(listener.endpoint, { accept: () => undefined }), 'addressInUse')
    await listener.close()
    await assertRejects(subject.client.connect(listener.endpoint, { timeoutMs: 5000 }), 'refused')
  })

  networkTest('a listener that closed leaves its connections and frees its port', async subject => {
    const pair = await connectPair(subject)
    await pair.listener.close()
    const again = await subject.server.listen(pair.listener.endpoint, { accept: () => undefined })
    await again.close()
    pair.client.send([Buffer.from('still here')])
    assert.equal(String(await pair.atServer.take(10)), 'still here')
    await pair.end()
  })

  networkTest('nothing is delivered before start', async subject => {
    const pair = await connectPair(subject, subject.host, { start: false })
    pair.client.send([Buffer.from('early')])
    pair.server.send([Buffer.from('early too')])
    await wait(subject.clock, 30)
    assert.equal(pair.atServer.receivedBytes + pair.atClient.receivedBytes, 0)
    pair.server.start(pair.atServer)
    pair.client.start(pair.atClient)
    assert.equal(String(await pair.atServer.take(5)), 'early')
    assert.equal(String(await pair.atClient.take(9)), 'early too')
    await pair.end()
  })
}

function byteConformance(networkTest: NetworkTest): void {
  networkTest(
    'many small sends arrive whole and in order, and report in order, once, in a later turn',
    async subject => {
      const pair = await connectPair(subject)
      const reported: number[] = []
      const lines: string[] = []
      for (let number = 0; number < 5000; number++) {
        const line = `${number}:${'x'.repeat(number % 50)};`
        lines.push(line)
        const turn = watchTurn()
        const bytes = Buffer.from(line)
        pair.server.send([bytes.subarray(0, 2), bytes.subarray(2)], error => {
          assert.equal(error, undefined)
          assert.ok(turn.isOver())
          reported.push(number)
        })
        if (number % 100 === 0) await subject.clock.yieldTurn()
      }
      const expected = lines.join('')
      assert.equal(String(await pair.atClient.take(expected.length)), expected)
      while (reported.length < 5000) await wait(subject.clock, 1)
      assert.deepEqual(
        reported,
        lines.map((_, number) => number),
      )
      assert.equal(pair.server.unsentBytes, 0)
      await pair.end()
    },
  )

  networkTest('bytes may be changed once their send was reported', async subject => {
    const pair = await connectPair(subject)
    const bytes = pattern(40_000, 1)
    pair.client.pause()
    const reported = sent(pair.server, [bytes])
    await wait(subject.clock, 20)
    pair.client.resume()
    await reported
    bytes.fill(0)
    assert.ok((await pair.atClient.take(bytes.length)).equals(pattern(40_000, 1)))
    await pair.end()
  })

  networkTest('an empty send reports too', async subject => {
    const pair = await connectPair(subject)
    await sent(pair.server, [])
    await sent(pair.server, [Buffer.alloc(0)])
    await pair.end()
  })

  networkTest('big frames arrive in the buffers that the receiver named, small ones between them', async subject => {
    const pair = await connectPair(subject)
    const sizes = [10, 1_000_000, 3, 0, 700_000, 100, 2_500_000, 1]
    for (const size of sizes) {
      const head = Buffer.alloc(4)
      head.writeUInt32BE(size)
      pair.client.send([head, pattern(size, size)])
    }
    for (const size of sizes) {
      const length = (await pair.atServer.take(4)).readUInt32BE()
      assert.equal(length, size)
      const frame = await pair.atServer.takeIntoSlab(length)
      assert.ok(frame.equals(pattern(size, size)))
    }
    await pair.end()
  })

  networkTest('no byte is delivered after pause until resume, and none is lost', async subject => {
    const pair = await connectPair(subject)
    const all = pattern(300_000, 7)
    pair.client.send([all])
    while (pair.atServer.receivedBytes < all.length) {
      await pair.atServer.more()
      pair.server.pause()
      const before = pair.atServer.receivedBytes
      await wait(subject.clock, 2)
      assert.equal(pair.atServer.receivedBytes, before)
      pair.server.resume()
    }
    assert.ok((await pair.atServer.take(all.length)).equals(all))
    await pair.end()
  })

  networkTest('a reader that stalls is seen in unsentBytes and gets everything when it goes on', async subject => {
    const pair = await connectPair(subject)
    pair.client.pause()
    const piece = pattern(1_000_000, 3)
    let reports = 0
    for (let round = 0; round < 60; round++) pair.server.send([piece], () => reports++)
    await wait(subject.clock, 50)
    assert.ok(pair.server.unsentBytes > 0)
    assert.ok(reports < 60)
    pair.client.resume()
    for (let round = 0; round < 60; round++) assert.ok((await pair.atClient.take(piece.length)).equals(piece))
    while (pair.server.unsentBytes > 0) await wait(subject.clock, 1)
    await wait(subject.clock, 5)
    assert.equal(reports, 60)
    await pair.end()
  })
}

function endConformance(networkTest: NetworkTest): void {
  networkTest('close sends what is queued; both sides see one end without an error', async subject => {
    const pair = await connectPair(subject)
    const piece = pattern(3_000_000, 5)
    pair.server.send([piece])
    pair.server.close(30_000)
    assert.ok((await pair.atClient.take(piece.length)).equals(piece))
    assert.equal(await pair.atClient.ended, undefined)
    assert.equal(await pair.atServer.ended, undefined)
    await pair.end()
  })

  networkTest('bytes that arrive at a closing connection are dropped and do not spoil its answers', async subject => {
    const pair = await connectPair(subject)
    const answer = pattern(2_000_000, 9)
    pair.client.send([pattern(500_000, 1)])
    await pair.atServer.more()
    pair.server.pause()
    pair.server.send([answer])
    pair.server.close(120_000)
    const before = pair.atServer.receivedBytes
    pair.client.send([pattern(500_000, 2)])
    assert.ok((await pair.atClient.take(answer.length)).equals(answer))
    await Promise.all([pair.atClient.ended, pair.atServer.ended])
    assert.equal(pair.atServer.receivedBytes, before)
    await pair.end()
  })

  networkTest('a peer that does not read cannot hold a closing connection beyond its linger time', async subject => {
    const pair = await connectPair(subject)
    pair.client.pause()
    const outcome = sendOutcome(pair.server, [pattern(30_000_000, 1)])
    pair.server.close(50)
    await pair.atServer.ended
    assert.ok((await outcome) instanceof Error)
    await pair.end()
  })

  networkTest('an answer still goes out to a peer that has ended its side', async subject => {
    const pair = await connectPair(subject)
    pair.client.send([Buffer.from('request')])
    pair.client.close(30_000)
    await pair.atServer.take(7)
    pair.server.send([Buffer.from('answer')])
    assert.equal(await pair.atServer.ended, undefined)
    assert.equal(await pair.atClient.ended, undefined)
    await pair.end()
  })

  networkTest('destroy ends at once, with its reason, and fails what is unsent', async subject => {
    const pair = await connectPair(subject)
    pair.client.pause()
    const outcomes = [1, 2].map(seed => sendOutcome(pair.server, [pattern(20_000_000, seed)]))
    await subject.clock.yieldTurn()
    const reason = new Error('the frame is malformed')
    pair.server.destroy(reason)
    pair.server.destroy(new Error('another'))
    assert.equal(await pair.atServer.ended, reason)
    for (const outcome of outcomes) assert.ok((await outcome) instanceof Error)
    assert.equal(pair.server.unsentBytes, 0)
    assert.ok((await sendOutcome(pair.server, [Buffer.from('late')])) instanceof Error)
    pair.client.resume()
    await pair.atClient.ended
    await pair.end()
  })

  networkTest('the end of a process is seen by its peer, once', async subject => {
    const pair = await connectPair(subject)
    pair.client.destroy()
    await pair.atServer.ended
    await wait(subject.clock, 20)
    assert.equal(pair.atServer.ends, 1)
    assert.equal(pair.atClient.ends, 1)
    await pair.end()
  })
}

function rangeConformance(networkTest: NetworkTest): void {
  const bytes = pattern(12_000_000, 11)

  networkTest('ranges and buffers arrive in order, and every reference is given back', async subject => {
    const pair = await connectPair(subject)
    const file = await fileWith(subject, bytes)
    const ranges = [
      [0, 100],
      [1_000_000, 3_000_000],
      [5, 0],
      [4_095, 2],
      [11_900_000, 100_000],
    ] as const
    const reported: number[] = []
    for (const [position, length] of ranges) {
      file.retain()
      pair.server.send([Buffer.from('head'), { file, position, length }, Buffer.from('tail')], error => {
        assert.equal(error, undefined)
        reported.push(position)
      })
    }
    for (const [position, length] of ranges) {
      assert.equal(String(await pair.atClient.take(4)), 'head')
      assert.ok((await pair.atClient.take(length)).equals(bytes.subarray(position, position + length)))
      assert.equal(String(await pair.atClient.take(4)), 'tail')
    }
    while (reported.length < ranges.length) await wait(subject.clock, 1)
    assert.deepEqual(
      reported,
      ranges.map(([position]) => position),
    )
    await assertLastReference(subject, file)
    await pair.end()
  })

  networkTest('a range waits for the buffers that are queued before it', async subject => {
    const pair = await connectPair(subject)
    const file = await fileWith(subject, bytes)
    const buffer = pattern(9_000_000, 4)
    pair.client.pause()
    for (let round = 0; round < 2; round++) {
      file.retain()
      pair.server.send([buffer])
      await wait(subject.clock, 10)
      pair.server.send([{ file, position: round, length: 2_000_000 }, Buffer.from('end')])
    }
    await wait(subject.clock, 10)
    pair.client.resume()
    for (let round = 0; round < 2; round++) {
      assert.ok((await pair.atClient.take(buffer.length)).equals(buffer))
      assert.ok((await pair.atClient.take(2_000_000)).equals(bytes.subarray(round, round + 2_000_000)))
      assert.equal(String(await pair.atClient.take(3)), 'end')
    }
    await assertLastReference(subject, file)
    await pair.end()
  })

  networkTest('a reader that stalls in the middle of a range gets the rest of it later', async subject => {
    const pair = await connectPair(subject)
    const file = await fileWith(subject, bytes)
    file.retain()
    const outcome = sendOutcome(pair.server, [{ file, position: 0, length: bytes.length }, Buffer.from('end')])
    for (let pauses = 0; pauses < 5; pauses++) {
      await pair.atClient.more()
      pair.client.pause()
      await wait(subject.clock, 20)
      pair.client.resume()
    }
    assert.ok((await pair.atClient.take(bytes.length)).equals(bytes))
    assert.equal(String(await pair.atClient.take(3)), 'end')
    assert.equal(await outcome, undefined)
    await assertLastReference(subject, file)
    await pair.end()
  })

  networkTest('a file that is removed in the middle of a send arrives whole', async subject => {
    const pair = await connectPair(subject)
    const file = await fileWith(subject, bytes)
    pair.client.pause()
    file.retain()
    const outcome = sendOutcome(pair.server, [{ file, position: 0, length: bytes.length }])
    file.release()
    await wait(subject.clock, 20)
    await subject.disk.remove(file.path)
    pair.client.resume()
    assert.ok((await pair.atClient.take(bytes.length)).equals(bytes))
    assert.equal(await outcome, undefined)
    await assertCloses(subject, file)
    await pair.end()
  })

  networkTest('a file that is cut in the middle of a send fails it and ends the connection', async subject => {
    const pair = await connectPair(subject)
    const file = await fileWith(subject, bytes)
    pair.client.pause()
    file.retain()
    file.retain()
    const first = sendOutcome(pair.server, [{ file, position: 0, length: bytes.length }])
    const second = sendOutcome(pair.server, [{ file, position: 0, length: 10 }])
    await wait(subject.clock, 20)
    file.truncate(bytes.length - 1)
    assert.ok((await first) instanceof Error)
    assert.ok((await second) instanceof Error)
    assert.ok((await pair.atServer.ended) instanceof Error)
    pair.client.resume()
    await pair.atClient.ended
    const got = await pair.atClient.take(pair.atClient.receivedBytes)
    assert.ok(got.length < bytes.length && got.equals(bytes.subarray(0, got.length)))
    await assertLastReference(subject, file)
    await pair.end()
  })

  networkTest('bytes that were cut off and written anew are not sent for those that were asked for', async subject => {
    const pair = await connectPair(subject)
    const file = await fileWith(subject, bytes)
    file.retain()
    const outcome = sendOutcome(pair.server, [{ file, position: bytes.length - 100, length: 100 }])
    file.truncate(bytes.length - 50)
    await appended(file, Buffer.alloc(50, 'n'))
    assert.ok((await outcome) instanceof Error)
    await pair.atClient.ended
    assert.ok(pair.atClient.receivedBytes <= 50)
    await assertLastReference(subject, file)
    await pair.end()
  })

  networkTest('a cut above a range does not touch it', async subject => {
    const pair = await connectPair(subject)
    const file = await fileWith(subject, bytes)
    pair.client.pause()
    file.retain()
    const outcome = sendOutcome(pair.server, [{ file, position: 0, length: 10_000_000 }])
    await wait(subject.clock, 10)
    file.truncate(10_000_000)
    pair.client.resume()
    assert.ok((await pair.atClient.take(10_000_000)).equals(bytes.subarray(0, 10_000_000)))
    assert.equal(await outcome, undefined)
    await assertLastReference(subject, file)
    await pair.end()
  })

  networkTest('a range beyond the end of its file fails the send', async subject => {
    const pair = await connectPair(subject)
    const file = await fileWith(subject, bytes.subarray(0, 1000))
    file.retain()
    assert.ok((await sendOutcome(pair.server, [{ file, position: 500, length: 501 }])) instanceof Error)
    assert.ok((await pair.atServer.ended) instanceof Error)
    await assertLastReference(subject, file)
    await pair.end()
  })

  for (const who of ['server', 'client'] as const)
    networkTest(
      `a connection that the ${who} ends in the middle of a range gives back its references`,
      async subject => {
        const pair = await connectPair(subject)
        const file = await fileWith(subject, bytes)
        pair.client.pause()
        const outcomes = [0, 1].map(position => {
          file.retain()
          return sendOutcome(pair.server, [{ file, position, length: bytes.length - 1 }])
        })
        await wait(subject.clock, 20)
        pair[who].destroy()
        for (const outcome of outcomes) assert.ok((await outcome) instanceof Error)
        await pair.atServer.ended
        file.retain()
        assert.ok((await sendOutcome(pair.server, [{ file, position: 0, length: 1 }])) instanceof Error)
        await assertLastReference(subject, file)
        await pair.end()
      },
    )

  networkTest('many connections send ranges of many files at once', async subject => {
    const pairs = await Promise.all(Array.from({ length: 8 }, () => connectPair(subject)))
    await Promise.all(
      pairs.map(async (pair, index) => {
        const content = pattern(1_500_000, 100 + index)
        const file = await fileWith(subject, content, `log-${index}`)
        for (let round = 0; round < 4; round++) {
          file.retain()
          pair.server.send([{ file, position: round, length: content.length - round }])
        }
        for (let round = 0; round < 4; round++)
          assert.ok((await pair.atClient.take(content.length - round)).equals(content.subarray(round)))
      }),
    )
    for (const pair of pairs) await pair.end()
  })
}

interface Pair {
  readonly listener: Listener
  readonly server: Connection
  readonly client: Connection
  readonly atServer: CollectingReceiver
  readonly atClient: CollectingReceiver
  end(): Promise<void>
}

async function connectPair(subject: NetworkSubject, host = subject.host, how = { start: true }): Promise<Pair> {
  let accept = (_: Connection): void => undefined
  const accepted = new Promise<Connection>(resolve => {
    accept = resolve
  })
  const listener = await subject.server.listen({ host: subject.host, port: 0 }, { accept: one => accept(one) })
  const client = await subject.client.connect({ host, port: listener.endpoint.port }, { timeoutMs: 5000 })
  const server = await accepted
  const [atServer, atClient] = [new CollectingReceiver(), new CollectingReceiver()]
  if (how.start) {
    server.start(atServer)
    client.start(atClient)
  }
  const end = async () => {
    client.destroy()
    server.destroy()
    await Promise.all([atServer.ended, atClient.ended, listener.close()])
  }
  return { listener, server, client, atServer, atClient, end }
}

async function fileWith({ disk, directory }: NetworkSubject, bytes: Buffer, name = 'log'): Promise<DiskFile> {
  const file = disk.open(`${directory}/${name}`, 'create')
  await appended(file, bytes)
  return file
}

async function appended(file: DiskFile, bytes: Buffer): Promise<void> {
  const error = await new Promise(resolve => file.append([bytes], resolve))
  assert.equal(error, undefined)
}

type Parts = Parameters<Connection['send']>[0]

function sendOutcome(connection: Connection, parts: Parts): Promise<Error | undefined> {
  return new Promise(resolve => connection.send(parts, resolve))
}

async function sent(connection: Connection, parts: Parts): Promise<void> {
  assert.equal(await sendOutcome(connection, parts), undefined)
}

/** Gives back the test's own reference and checks that it was the only one left. */
function assertLastReference(subject: NetworkSubject, file: DiskFile): Promise<void> {
  file.release()
  return assertCloses(subject, file)
}

/** Nobody holds the file any more, but perhaps a read that is just coming back. */
async function assertCloses({ clock }: NetworkSubject, file: DiskFile): Promise<void> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    try {
      file.retain()
    } catch (error) {
      assert.equal((error as Error).name, 'AssertionFailure')
      return
    }
    file.release()
    await wait(clock, 1)
  }
  assert.fail('somebody still holds the file')
}

async function assertRejects(promise: Promise<unknown>, code: NetworkErrorCode): Promise<void> {
  await assert.rejects(promise, error => error instanceof NetworkError && error.code === code)
}

function wait(clock: Clock, delayMs: number): Promise<void> {
  return new Promise(resolve => void clock.after(delayMs, resolve))
}

/** Bytes in which every position is recognisable. */
function pattern(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE(Math.imul(at + seed * 7919, 0x9e3779b1) >>> 0, at)
  return bytes
}
