import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease } from '../base/lease.ts'
import { type FrameMemory, FrameReader } from './frame-reader.ts'

/** Grants until `limit` bytes are out; counts what is. */
class CountedMemory implements FrameMemory {
  leased = 0
  held = 0
  limit = Number.POSITIVE_INFINITY
  waiting: { bytes: number; granted: (lease: Lease) => void }[] = []

  lease(bytes: number, granted: (lease: Lease) => void): Lease | undefined {
    if (this.leased + bytes > this.limit) {
      this.waiting.push({ bytes, granted })
      return undefined
    }
    return this.#make(bytes)
  }

  forget(granted: (lease: Lease) => void): void {
    this.waiting = this.waiting.filter(one => one.granted !== granted)
  }

  copy(bytes: Buffer): Lease {
    const buffer = Buffer.from(bytes)
    this.held += buffer.length
    return {
      bytes: buffer,
      release: () => {
        buffer.fill(0xdb)
        this.held -= buffer.length
      },
    }
  }

  grantAll(): void {
    for (const { bytes, granted } of this.waiting.splice(0)) granted(this.#make(bytes))
  }

  #make(bytes: number): Lease {
    this.leased += bytes
    const buffer = Buffer.alloc(bytes)
    return {
      bytes: buffer,
      release: () => {
        buffer.fill(0xdb)
        this.leased -= bytes
      },
    }
  }
}

function setUp(answers: ('taken' | 'hold')[] = []) {
  const memory = new CountedMemory()
  const seen = { frames: [] as string[], failures: [] as string[], paused: 0, resumed: 0 }
  const reader: FrameReader = new FrameReader({
    maxFrameBytes: 1000,
    memory,
    frame: bytes => {
      const answer = answers.shift() ?? 'taken'
      if (answer === 'taken') seen.frames.push(bytes.toString('latin1'))
      return answer
    },
    failed: (error, length) => seen.failures.push(`${error} ${length}`),
    pause: () => seen.paused++,
    resume: () => seen.resumed++,
  })
  return { memory, seen, reader }
}

function framed(...texts: string[]): Buffer {
  return Buffer.concat(
    texts.flatMap(text => {
      const length = Buffer.alloc(4)
      length.writeInt32BE(text.length)
      return [length, Buffer.from(text, 'latin1')]
    }),
  )
}

/** Delivers as a socket does: into the target where there is one, else from a scratch buffer that is reused. */
function deliver(reader: FrameReader, stream: Buffer, sizes: number): void {
  const scratch = Buffer.alloc(sizes)
  for (let at = 0; at < stream.length; ) {
    const target = reader.target() ?? scratch
    const length = Math.min(sizes, target.length, stream.length - at)
    stream.copy(target, 0, at, at + length)
    reader.received(target.subarray(0, length))
    scratch.fill(0xee)
    at += length
  }
}

test('frames come out whole and in order however the stream is cut', () => {
  const texts = ['', 'a', 'bc', 'x'.repeat(999), '', 'last']
  for (const size of [1, 2, 3, 4, 5, 7, 100, 1003, 5000]) {
    const { reader, seen, memory } = setUp()
    deliver(reader, framed(...texts), size)
    assert.deepEqual(seen.frames, texts, `cut at ${size}`)
    assert.equal(memory.leased, 0)
    assert.equal(reader.isInsideFrame, false)
  }
})

test('a negative or too large length ends the stream before memory is taken', () => {
  for (const [length, said] of [
    [-1, 'negativeLength -1'],
    [1001, 'tooLarge 1001'],
    [0x7fffffff, 'tooLarge 2147483647'],
  ] as const) {
    const { reader, seen, memory } = setUp()
    const bytes = Buffer.alloc(8)
    bytes.writeInt32BE(length)
    reader.received(bytes)
    reader.received(framed('more'))
    assert.deepEqual(seen.failures, [said])
    assert.deepEqual(seen.frames, [])
    assert.equal(memory.leased, 0)
  }
})

test('a held frame is offered again on resume, and what came behind it follows', () => {
  const { reader, seen } = setUp(['taken', 'hold', 'hold'])
  reader.received(framed('one', 'two', 'three'))
  assert.deepEqual(seen.frames, ['one'])
  assert.equal(seen.paused, 1)
  reader.received(framed('four'))
  reader.resume()
  assert.deepEqual(seen.frames, ['one'])
  reader.resume()
  assert.deepEqual(seen.frames, ['one', 'two', 'three', 'four'])
  assert.equal(seen.resumed, 1)
})

test('a held frame that was gathered in a slab keeps its bytes', () => {
  const { reader, seen, memory } = setUp(['hold'])
  deliver(reader, framed('gathered'), 3)
  assert.deepEqual(seen.frames, [])
  assert.equal(memory.leased, 8)
  reader.resume()
  assert.deepEqual(seen.frames, ['gathered'])
  assert.equal(memory.leased, 0)
})

test('a held frame that was gathered in a slab has no room left to read into', () => {
  const { reader } = setUp(['hold', 'hold'])
  deliver(reader, framed('frame'), 3)
  assert.equal(reader.target(), undefined)
  reader.resume()
  assert.equal(reader.target(), undefined)
  reader.resume()
  assert.equal(reader.target(), undefined)
})

test('without memory a frame waits unread, and goes on when memory is granted', () => {
  const { reader, seen, memory } = setUp()
  memory.limit = 0
  reader.received(framed('waits').subarray(0, 6))
  assert.equal(seen.paused, 1)
  memory.limit = 100
  memory.grantAll()
  assert.equal(seen.resumed, 1)
  deliver(reader, framed('waits').subarray(6), 2)
  assert.deepEqual(seen.frames, ['waits'])
})

test('a connection that ends gives back its slab and leaves the queue for memory', () => {
  const { reader, memory } = setUp()
  reader.received(framed('unfinished').subarray(0, 8))
  assert.equal(memory.leased, 10)
  reader.end()
  assert.equal(memory.leased, 0)

  const other = setUp()
  other.memory.limit = 0
  other.reader.received(framed('unfinished').subarray(0, 8))
  other.reader.end()
  assert.deepEqual(other.memory.waiting, [])
})

test('what arrives behind a frame that waits is counted, until it is used or the connection ends', () => {
  const { reader, memory, seen } = setUp(['hold'])
  reader.received(framed('first', 'second'))
  assert.deepEqual([reader.heldBytes, memory.held], [19, 19])
  reader.resume()
  assert.deepEqual(seen.frames, ['first', 'second'])
  assert.deepEqual([reader.heldBytes, memory.held], [0, 0])

  const other = setUp(['hold'])
  other.reader.received(framed('first', 'second'))
  other.reader.end()
  assert.equal(other.memory.held, 0)
})

test('what is held counts as long as its memory is needed, and moves to smaller memory when little is left', () => {
  const { reader, memory, seen } = setUp(['hold', 'taken', 'hold', 'taken', 'taken', 'hold'])
  reader.received(framed('a'.repeat(46), 'b'.repeat(46), 'c'.repeat(6), 'd'.repeat(6)))
  assert.equal(memory.held, 120)
  reader.resume()
  assert.deepEqual([reader.heldBytes, memory.held], [120, 120], 'more than a quarter is left')
  reader.resume()
  assert.deepEqual([reader.heldBytes, memory.held], [10, 10])
  reader.resume()
  assert.deepEqual(
    seen.frames.map(frame => frame[0] + frame.length),
    ['a46', 'b46', 'c6', 'd6'],
  )
  assert.equal(memory.held, 0)
})

test('a connection that ends while held frames are taken gives their memory back', () => {
  const memory = new CountedMemory()
  let isHeld = true
  const reader: FrameReader = new FrameReader({
    maxFrameBytes: 1000,
    memory,
    frame: () => {
      if (isHeld) return 'hold'
      reader.end()
      return 'taken'
    },
    failed: () => {},
    pause: () => {},
    resume: () => {},
  })
  reader.received(framed('first', 'second'))
  isHeld = false
  reader.resume()
  assert.equal(memory.held, 0)
})

test('a kept frame stays valid after the callback until it is released', () => {
  const memory = new CountedMemory()
  const kept: Lease[] = []
  const reader: FrameReader = new FrameReader({
    maxFrameBytes: 1000,
    memory,
    frame: () => {
      kept.push(reader.keep())
      return 'taken'
    },
    failed: () => {},
    pause: () => {},
    resume: () => {},
  })
  deliver(reader, framed('whole', 'pieces'), 9)
  deliver(reader, framed('another'), 4)
  assert.deepEqual(
    kept.map(lease => lease.bytes.toString()),
    ['whole', 'pieces', 'another'],
  )
  assert.equal(memory.held, 'whole'.length)
  for (const lease of kept) lease.release()
  assert.deepEqual([memory.leased, memory.held], [0, 0])
})
