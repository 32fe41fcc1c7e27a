import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { test } from 'node:test'

const root = resolve(import.meta.dirname, '../..')
/** Runs before the script, in which this Node then takes itself for an old one. */
const pretendsToBeOld = `data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })",
)}`

function runOnOldNode(args: string[], npmScript?: string) {
  const env = { ...process.env, npm_lifecycle_event: npmScript }
  const all = ['--import', pretendsToBeOld, ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, all, {
    cwd: root,
    env,
    encoding: 'utf8',
    timeout: 30_000,
  })
  return { status, stdout, stderr }
}

test('on an old Node the checkout says in one line what is needed, and how to get it', () => {
  const needed: readonly [args: string[], what: string][] = [
    [['src/cli/main.ts', 'topic', 'list'], 'Millrace needs Node 22.15 or later'],
    [['--test', 'test/layers.test.ts'], "Millrace's tests need Node 24.0 or later"],
  ]
  for (const [args, what] of needed) {
    const { status, stdout, stderr } = runOnOldNode(['scripts/run.cjs', ...args])
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' })
    assert.ok(
      stderr.startsWith(`${what}; this is 20.20.2 (${process.execPath}). After \`npm ci\` the npm scripts run on`),
    )
    assert.match(stderr, /^[^\n]*`npm start`[^\n]*\n$/)
  }
  const { stderr } = runOnOldNode(['scripts/run.cjs', 'src/cli/main.ts'], 'millrace')
  assert.match(
    stderr,
    /; this is 20\.20\.2 \([^)]*\)\. `npm ci` brings one along where there is a build of it [^\n]*\n$/,
  )
})

test('on an old Node the built command says in one line what is needed', () => {
  const { status, stdout, stderr } = runOnOldNode(['scripts/launcher.cjs', 'topic', 'list'])
  const said = `Millrace needs Node 22.15 or later; this is 20.20.2 (${process.execPath}).\n`
  assert.deepEqual({ status, stdout, stderr }, { status: 1, stdout: '', stderr: said })
})
