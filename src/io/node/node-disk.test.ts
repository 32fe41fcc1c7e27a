import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { diskConformance } from '../conformance/disk-conformance.ts'
import { CopySlabs } from './append-batch.ts'
import { AppendPace } from './append-pace.ts'
import { loadNativeCalls } from './native-calls.ts'
import { NodeDisk } from './node-disk.ts'
import { Slots } from './slots.ts'
import { TurnQueue } from './turn-queue.ts'

/** A disk whose kernel always holds writers back. */
class AlwaysSlow extends AppendPace {
  override get isSlow(): boolean {
    return true
  }
}

/** One that does so now and then. */
class SometimesSlow extends AppendPace {
  #asked = 0
  override get isSlow(): boolean {
    return ++this.#asked % 4 === 0
  }
}

const ways = {
  'the real one': { native: loadNativeCalls(), pace: AppendPace },
  'the real one, without native calls': { native: undefined, pace: AppendPace },
  'the real one, appending here and there': { native: loadNativeCalls(), pace: SometimesSlow },
  'the real one, appending in the pool': { native: loadNativeCalls(), pace: AlwaysSlow },
}

for (const [name, { native, pace: Pace }] of Object.entries(ways))
  diskConformance(name, () => {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-disk-'))
    const pace = new Pace(() => undefined)
    return {
      subject: { disk: new NodeDisk(sharedWith(pace), native), directory },
      run: body => body(),
      dispose: async () => rmSync(directory, { recursive: true }),
    }
  })

test('a file that cannot be opened to be synced is no failed sync', async () => {
  const disk = new NodeDisk(sharedWith(new AppendPace(() => undefined)), undefined)
  const path = join(tmpdir(), 'millrace-no-such-file')
  await assert.rejects(disk.syncFile(path), { code: 'notFound', operation: 'open' })
})

test('a directory that cannot be made says why, also where the file system is not for writing', {
  skip: process.platform !== 'linux',
}, () => {
  const disk = new NodeDisk(sharedWith(new AppendPace(() => undefined)), undefined)
  assert.throws(() => disk.makeDirectory('/sys/millrace/data'), { code: /^(readOnly|notPermitted)$/ })
  assert.throws(() => disk.makeDirectory('/proc/millrace/data'), { code: 'notFound' })
  assert.throws(() => disk.makeDirectory('/proc/version/data'), { code: 'notFound' })
})

test('a file that may not be removed says so, alone and in its directory', { skip: !canFix() }, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-fixed-'))
  const disk = new NodeDisk(sharedWith(new AppendPace(() => undefined)), undefined)
  const path = join(directory, 'in', 'file')
  disk.makeDirectory(join(directory, 'in'))
  for (const fixed of [path, join(directory, 'in')]) {
    disk.writeSmallFile(path, Buffer.alloc(0))
    execFileSync('chattr', ['+i', fixed])
    try {
      for (const removed of [path, directory])
        await assert.rejects(disk.remove(removed), { code: 'notPermitted', operation: 'remove', path })
    } finally {
      execFileSync('chattr', ['-i', fixed])
    }
  }
  await disk.remove(directory)
  assert.equal(disk.status(directory), undefined)
})

/** Whether this user, here, may make files that nobody can change. */
function canFix(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-can-fix-'))
  try {
    return spawnSync('chattr', ['+i', directory]).status === 0
  } finally {
    spawnSync('chattr', ['-i', directory])
    rmSync(directory, { recursive: true })
  }
}

function sharedWith(pace: AppendPace) {
  return {
    turns: new TurnQueue(),
    pace,
    copies: new CopySlabs(),
    reads: new Slots(2),
    syncs: new Slots(1),
    appends: new Slots(1),
  }
}
