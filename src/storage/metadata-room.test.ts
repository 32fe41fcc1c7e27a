import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Disk } from '../io/disk.ts'
import { onHost } from './fixture.test.ts'
import { MetadataRoom } from './metadata-room.ts'

const reserveBytes = 1024 * 1024

/** A file system that says it is full: it keeps blocks back, but not from this user. */
function sayingFull(disk: Disk): Disk {
  return new Proxy(disk, {
    get: (target, name) => {
      if (name === 'freeBytesNow') return () => 0
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

describe('room for the metadata log', () => {
  test('is there where it can be written, whatever the file system says', () =>
    onHost({}, async host => {
      await host.open()
      const [directory] = host.directories.directories
      const room = new MetadataRoom(sayingFull(host.io.disk), directory!, reserveBytes)
      assert.equal(room.hasRoomToStart, true)
      assert.equal(room.hasRoomFor(1000), true)
      assert.equal(directory!.isWritable, true)
      // What was written to find that out takes no room.
      assert.equal(host.io.disk.status('/data/millrace-probe')?.sizeBytes, 0)
    }))

  test('is not looked for on a file system that has become read-only: the directory is offline, not full', () =>
    onHost({}, async host => {
      await host.open()
      const [directory] = host.directories.directories
      const room = new MetadataRoom(sayingFull(host.io.disk), directory!, reserveBytes)
      host.node.disk.faults.readOnlyPath = '/data'
      assert.equal(room.hasRoomFor(1000), false)
      assert.deepEqual([directory!.isOffline, host.faults.events], [true, ['failed']])
    }))

  test('is what was set aside, once the directory is full', () =>
    onHost({}, async host => {
      await host.open()
      const [directory] = host.directories.directories
      const room = new MetadataRoom(host.io.disk, directory!, reserveBytes)
      room.keep()
      host.node.disk.faults.freeBytes = 0
      assert.equal(room.hasRoomFor(1000), false)
      assert.equal(room.isFull, true)
      assert.equal(room.hasRoomFor(1000), false)
      room.give()
      assert.equal(room.hasRoomFor(1000), true)
      assert.equal(room.hasRoomFor(reserveBytes), false)
      assert.equal(directory!.isWritable, false)
    }))

  test('is what is left of it at the next start, while the directory is still full', () =>
    onHost({}, async host => {
      await host.open()
      const before = new MetadataRoom(host.io.disk, host.directories.directories[0]!, reserveBytes)
      before.keep()
      host.node.disk.faults.freeBytes = 0
      before.giveIfFull()
      assert.equal(before.hasRoomFor(1000), true)
      host.node.crash('kill')
      await host.open()
      const [directory] = host.directories.directories
      const room = new MetadataRoom(host.io.disk, directory!, reserveBytes)
      room.giveIfFull()
      assert.equal(room.hasRoomToStart, true)
      assert.equal(room.hasRoomFor(1000), true)
      assert.equal(directory!.isWritable, false)
      assert.equal(directory!.heldBackBytes, reserveBytes)
    }))
})
