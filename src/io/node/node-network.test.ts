import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { networkConformance } from '../conformance/network-conformance.ts'
import { type NodeIoOptions, nodeIo } from './node-io.ts'

const ways: [string, NodeIoOptions][] = [
  ['the real one', {}],
  ['the real one, without sendfile', { sendfile: false }],
  ['the real one, without native calls', { native: null }],
  ['the real one, on data events', { readIntoBuffers: false }],
]

for (const [name, options] of ways)
  networkConformance(name, () => {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-network-'))
    const { network, clock, disk } = nodeIo(options)
    const client = nodeIo(options).network
    const subject = { clock, server: network, client, host: '127.0.0.1', hostName: 'localhost', disk, directory }
    return { subject, run: body => body(), dispose: async () => rmSync(directory, { recursive: true }) }
  })
