import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  javaHashCode,
  murmur2,
  partitionOfCoordinator,
  partitionOfKey,
  partitionOfRemoteLogMetadata,
  shareCoordinatorKey,
} from './partition-choice.ts'

test('a key goes to the partition that Kafka chooses', () => {
  const vectors: [Buffer, number, number, number, number][] = [
    [Buffer.alloc(0), 275646681, 0, 9, 31],
    [Buffer.from('a'), -1563381124, 1, 4, 24],
    [Buffer.from('kafka'), -798503068, 1, 4, 30],
    [Buffer.from('order-12345'), -1747359319, 1, 1, 29],
    [Buffer.from('héllo'), 614509002, 0, 6, 2],
    [Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex'), -1038035159, 0, 9, 39],
    [Buffer.from('ffffffff', 'hex'), 644171429, 2, 5, 29],
  ]
  for (const [key, hash, of3, of12, of50] of vectors) {
    assert.equal(murmur2(key), hash)
    assert.deepEqual([partitionOfKey(key, 3), partitionOfKey(key, 12), partitionOfKey(key, 50)], [of3, of12, of50])
  }
})

test('a group, transactional or share id goes to the coordinator that Kafka chooses', () => {
  const vectors: [string, number, number][] = [
    ['my-group', -1906497762, 12],
    ['consumer-app-1', -1743994130, 30],
    ['polygenelubricants', -2147483648, 0],
    ['grüße-😀', 347391577, 27],
    ['sg1:AAECAwQFBgcICQoLDA0ODw:0', -1363843007, 7],
  ]
  for (const [name, hash, of50] of vectors) {
    assert.equal(javaHashCode(name), hash)
    assert.equal(partitionOfCoordinator(name, 50), of50)
  }
  const key = shareCoordinatorKey({ groupId: 'sg1', topicId: 'AAECAwQFBgcICQoLDA0ODw', partition: 0 })
  assert.equal(key, 'sg1:AAECAwQFBgcICQoLDA0ODw:0')
})

test('what is known of tiered segments goes to the partition that Kafka chooses', () => {
  const vectors: [string, number, number, number][] = [
    ['AAECAwQFBgcICQoLDA0ODw', 0, 45, 0],
    ['AAECAwQFBgcICQoLDA0ODw', 7, 45, 0],
    ['_____wAAAACAAAAAf____w', 3, 33, 3],
  ]
  for (const [topicId, partition, of50, of5] of vectors) {
    assert.equal(partitionOfRemoteLogMetadata({ topicId, partition }, 50), of50)
    assert.equal(partitionOfRemoteLogMetadata({ topicId, partition }, 5), of5)
  }
})
