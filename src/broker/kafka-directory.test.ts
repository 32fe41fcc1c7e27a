import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeMetaProperties } from '../storage/directory-files.ts'
import { onBrokerHost } from './fixture.test.ts'
import { metadataDirectoryName } from './format.ts'
import { SnapshotFiles } from './metadata/snapshot-files.ts'

/** The first snapshot of a directory that Kafka 4.4 has formatted, and the id of that directory, which stands in it. */
const snapshot = readFileSync(join(import.meta.dirname, '../records/fixtures/kafka-snapshot.checkpoint'))
const directoryId = Buffer.from('73de9e99704e4b57a122a5f60ae85cdb', 'hex').toString('base64url')

const lineOf = /features that Millrace does not do/

test('a directory that Kafka has formatted opens, and what it has that is not offered here is told in one line', () =>
  onBrokerHost({}, async host => {
    const { disk } = host.node.start()
    const directory = `/data/${metadataDirectoryName}`
    disk.makeDirectory(directory)
    const files = new SnapshotFiles(disk, directory)
    const id = { endOffset: 0, epoch: 0 }
    await files.write(id, 0, snapshot)
    await files.complete(id)
    await writeMetaProperties(disk, '/data', { clusterId: 'MkU3OEVBNTcwNTJENDM2Qg', nodeId: 1, directoryId })
    host.crash('kill')
    await host.start()
    const lines = host.world.log.lines.map(line => line.message).filter(message => lineOf.test(message))
    const features =
      'eligible.leader.replicas.version 1, group.version 1, share.version 2, streams.version 1, transaction.version 2'
    assert.deepEqual(lines, [
      `the cluster has features that Millrace does not do so far: ${features}. What they govern is refused`,
    ])
    await host.close()
  }))

test('of a directory of its own nothing is said', () =>
  onBrokerHost({}, async host => {
    await host.start()
    assert.ok(!host.world.log.lines.some(line => lineOf.test(line.message)))
    await host.close()
  }))
