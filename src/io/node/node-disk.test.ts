import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskConformance } from '../conformance/disk-conformance.ts'
import { nodeIo } from './node-io.ts'

for (const native of [undefined, null] as const)
  diskConformance(native === null ? 'the real one, without native calls' : 'the real one', () => {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-disk-'))
    return {
      subject: { disk: nodeIo({ native }).disk, directory },
      run: body => body(),
      dispose: async () => rmSync(directory, { recursive: true }),
    }
  })
