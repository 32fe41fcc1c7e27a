import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const coordinators = ['base', 'protocol', 'records', 'core/log', 'core/state-machine']
const everyCore = [
  'core/state-machine',
  'core/log',
  'core/raft',
  'core/metadata',
  'core/replication',
  'core/group',
  'core/transaction',
  'core/share',
  'core/security',
]

/**
 * Which folders of src/ and which packages each folder may import. A folder may always import itself. Folders not named
 * here do not exist. Test files are free. The same table, with the reasons, is in ARCHITECTURE.md.
 */
const mayImport: Record<string, readonly string[]> = {
  base: [],
  config: ['base', 'core/log', 'properties-file/parser'],
  io: ['base'],
  'io/compute': ['records'],
  'io/node': ['base', 'io', 'records', 'node:', 'lz4-napi', 'snappy', 'pino'],
  'io/conformance': ['base', 'io', 'records', 'node:test', 'node:assert/strict'],
  protocol: ['base'],
  records: ['base', 'node:zlib', 'node:module', '@node-rs/crc32', 'lz4-napi', 'snappy'],
  channel: ['base', 'io', 'protocol'],
  'core/log': ['base', 'protocol', 'records'],
  'core/state-machine': ['base', 'protocol', 'records', 'core/log'],
  'core/raft': ['base', 'protocol', 'records', 'core/log'],
  'core/replication': ['base', 'protocol', 'records', 'core/log'],
  'core/metadata': [...coordinators, 'config'],
  'core/group': coordinators,
  storage: ['base', 'io', 'protocol', 'records', 'core/log'],
  client: ['base', 'io', 'protocol', 'records', 'channel'],
  'client/index': ['io/node'],
  broker: ['base', 'io', 'protocol', 'records', 'channel', 'config', ...everyCore, 'storage', 'tiered'],
  'broker/admin': ['node:http', 'node:perf_hooks', 'prom-client'],
  'broker/start': ['io/node', 'node:fs', 'node:os', 'node:path'],
  'simulator/io': ['base', 'io', 'records', 'node:crypto'],
  simulator: [
    ...[
      'base',
      'io',
      'protocol',
      'records',
      'channel',
      'config',
      ...everyCore,
      'storage',
      'broker',
      'client',
      'simulator/io',
    ],
    ...['node:module', 'node:async_hooks', 'node:crypto', 'node:util'],
  ],
  testing: ['base', 'io', 'broker', 'client', 'config', 'io/node', 'node:'],
  cli: ['*'],
}

/** Single files that may do more than their folder, named without their ending. */
const exceptions = ['broker/admin', 'broker/start', 'client/index', 'io/compute']

const sources = globSync('src/**/*.ts').filter(file => !file.endsWith('.test.ts') && !file.includes('/fixtures/'))
const folders = Object.keys(mayImport).sort((a, b) => b.length - a.length)

function folderOf(path: string): string {
  const folder = folders.find(name => !exceptions.includes(name) && path.startsWith(`${name}/`))
  assert.ok(folder, `src/${path} lies in a folder that the layer table does not name`)
  return folder
}

function allowed(path: string): readonly string[] {
  const exception = exceptions.find(name => path === `${name}.ts` || path.startsWith(`${name}/`))
  return [...mayImport[folderOf(path)], ...(exception ? mayImport[exception] : [])]
}

function importsOf(text: string): string[] {
  const statements = text.matchAll(/^\s*(?:import|export)\b[^'"]*?\bfrom '([^']+)'/gm)
  const dynamic = text.matchAll(/\bimport\('([^']+)'\)|\bgetBuiltinModule\('([^']+)'\)|^import '([^']+)'/gm)
  return [...statements, ...dynamic].map(match => match[1] ?? match[2] ?? match[3])
}

test('every import follows the layer table', () => {
  const wrong: string[] = []
  for (const file of sources) {
    const path = relative('src', file)
    const from = folderOf(path)
    const may = allowed(path)
    for (const target of importsOf(readFileSync(file, 'utf8'))) {
      const to = target.startsWith('.') ? folderOf(relative('src', join(dirname(file), target))) : target
      const fits =
        may.includes('*') || to === from || may.some(one => one === to || (one.endsWith(':') && to.startsWith(one)))
      if (!fits) wrong.push(`${file} imports ${target}: ${from} may not import ${to}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('core is synchronous', () => {
  const wrong = sources.filter(
    file =>
      file.startsWith('src/core/') && /^(?!\s*(\/\/|\*|\/\*)).*\b(async |await )/m.test(readFileSync(file, 'utf8')),
  )
  assert.deepEqual(wrong, [])
})

test('time, chance and code from text come in through their own doors only', () => {
  const wrong: string[] = []
  for (const file of sources) {
    const text = readFileSync(file, 'utf8')
    const isDoor = file.startsWith('src/io/node/') || file.startsWith('src/simulator/tripwire')
    if (!isDoor && /\bMath\.random\b/.test(text)) wrong.push(`${file} uses Math.random`)
    if (!isDoor && !file.startsWith('src/cli/') && /\bDate\.now\b/.test(text)) wrong.push(`${file} uses Date.now`)
    if (file !== 'src/protocol/codec.ts' && /\bnew Function\b/.test(text)) wrong.push(`${file} makes code from text`)
    if (/\b(FIXME|TODO|XXX|HACK)\b/.test(text)) wrong.push(`${file} has a mark of unfinished work`)
  }
  assert.deepEqual(wrong, [])
})

test('every folder stands in the table of ARCHITECTURE.md, and the other way round', () => {
  const text = readFileSync('ARCHITECTURE.md', 'utf8')
  const section = text.slice(text.indexOf('## Directions of import'))
  const documented = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(match => match[1])
  const present = Object.keys(mayImport).filter(name => !exceptions.includes(name))
  assert.deepEqual(documented.sort(), present.sort())
  for (const name of present) if (existsSync(`src/${name}`)) assert.ok(documented.includes(name))
})
test('no file of src is left that nothing imports', () => {
  const entryPoints = new Set([
    'src/cli/main.ts',
    'src/simulator/main.ts',
    'src/broker/index.ts',
    'src/client/index.ts',
    'src/testing/index.ts',
  ])
  const everything = [...globSync('src/**/*.ts'), ...globSync('{test,bench,scripts}/**/*.ts')]
  const imported = new Set<string>()
  for (const file of everything)
    for (const target of importsOf(readFileSync(file, 'utf8')))
      if (target.startsWith('.')) imported.add(relative('.', join(dirname(file), target)))
  const forgotten = sources.filter(file => !imported.has(file) && !entryPoints.has(file))
  assert.deepEqual(forgotten, [])
})
