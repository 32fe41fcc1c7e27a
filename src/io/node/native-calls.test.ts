import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadNativeCalls, loadThroughKoffi } from './native-calls.ts'
import { nodeIo } from './node-io.ts'

const nodeIoPath = join(import.meta.dirname, 'node-io.ts')

/** Runs a program that has `io` and `directory`, in a process of its own. */
function runProgram(program: string, directory: string): { stdout: string; stderr: string } {
  const text = `import { nodeIo } from ${JSON.stringify(nodeIoPath)}
    const directory = ${JSON.stringify(directory)}
    const options = JSON.parse(process.env.IO_OPTIONS ?? '{}')
    const io = nodeIo(options)
    ${program}`
  // Node 22 needs to be told that it may read TypeScript.
  const flags = process.execArgv.filter(flag => /strip-types|disable-warning/.test(flag))
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', text], {
    encoding: 'utf8',
  })
  return { stdout, stderr }
}

function inDirectory(body: (directory: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-native-'))
  try {
    body(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

test('an embedding program sees no warning of ours, and all of its own', () => {
  const { stdout, stderr } = runProgram('console.log(io.nativeCalls); process.emitWarning("of the program")', '')
  assert.match(stdout, /^(node:ffi|koffi|undefined)\n$/)
  assert.match(stderr, /of the program/)
  assert.doesNotMatch(stderr, /FFI/)
})

for (const native of [undefined, null] as const) {
  const name = native === null ? 'without native calls' : 'with native calls'
  test(`a lock holds against another process and goes with it, ${name}`, () =>
    inDirectory(directory => {
      process.env.IO_OPTIONS = native === null ? '{"native":null}' : '{}'
      const tryLock = 'console.log(io.disk.lock(directory + "/.lock") !== undefined)'
      const { disk } = nodeIo({ native })
      const held = disk.lock(`${directory}/.lock`)
      assert.ok(held !== undefined)
      assert.equal(runProgram(tryLock, directory).stdout, 'false\n')
      held.release()
      assert.equal(runProgram(`${tryLock}; process.kill(process.pid, 'SIGKILL')`, directory).stdout, 'true\n')
      const again = disk.lock(`${directory}/.lock`)
      assert.ok(again !== undefined)
      again.release()
      delete process.env.IO_OPTIONS
    }))
}

test('sendfile and the look into memory do what they say', { skip: loadNativeCalls() === undefined }, () =>
  inDirectory(directory => {
    const program = `
      const { loadNativeCalls } = await import(${JSON.stringify(join(import.meta.dirname, 'native-calls.ts'))})
      const fs = await import('node:fs')
      const native = loadNativeCalls()
      fs.writeFileSync(directory + '/file', 'hello world')
      const file = fs.openSync(directory + '/file', 'r')
      console.log(native.isInMemory(file, 0), native.isInMemory(file, 11), native.isInMemory(-1, 0))
      console.log(native.sendfile(-1, file, 0, 5))
      fs.writeFileSync(directory + '/target', '')
      const target = fs.openSync(directory + '/target', 'r+')
      console.log(native.sendfile(target, file, 6, 100), fs.readFileSync(directory + '/target', 'utf8'))`
    assert.equal(runProgram(program, directory).stdout, 'true false false\n-1\n5 world\n')
  }),
)

test('without koffi there are no calls through it', () => {
  const require = () => {
    throw new Error('Cannot find module')
  }
  assert.equal(loadThroughKoffi(require), undefined)
  assert.equal(
    loadThroughKoffi(() => ({})),
    undefined,
  )
})

/** A file system of one megabyte; undefined where this process may not make one. */
function tinyFileSystem(directory: string): { unmount(): void } | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  return { unmount: () => void execFileSync('umount', [directory]) }
}

test('a full disk refuses appends, and takes them again when there is room', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-full-'))
  const fileSystem = tinyFileSystem(directory)
  try {
    if (fileSystem === undefined) return t.skip('needs the right to mount')
    const { disk } = nodeIo()
    const file = disk.open(`${directory}/log`, 'create')
    const append = (bytes: Buffer) => new Promise<Error | undefined>(resolve => file.append([bytes], resolve))
    assert.equal(await append(Buffer.alloc(600_000, 1)), undefined)
    const outcomes = await Promise.all([append(Buffer.alloc(600_000, 2)), append(Buffer.from('x'))])
    assert.deepEqual(
      outcomes.map(error => (error as { code?: string } | undefined)?.code),
      ['noSpace', 'io'],
    )
    file.truncate(600_000)
    assert.throws(() => disk.writeSmallFile(`${directory}/small`, Buffer.alloc(600_000)), { code: 'noSpace' })
    await disk.remove(`${directory}/small`)
    assert.equal(await append(Buffer.alloc(100_000, 3)), undefined)
    assert.ok((await disk.freeBytes(directory)) < 400_000)
    file.release()
  } finally {
    await new Promise(resolve => setTimeout(resolve, 20))
    fileSystem?.unmount()
    rmSync(directory, { recursive: true })
  }
})
