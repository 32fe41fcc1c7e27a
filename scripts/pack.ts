/**
 * Makes the tarballs that are published: `millrace` with everything, and `@millrace/client` with the client alone.
 *
 *   node scripts/pack.ts [DIRECTORY]      where they go; ./dist unless given
 *
 * The sources are compiled to JavaScript with declarations; only what the entry points reach is in them, and only the
 * packages that it imports are dependencies. Prints the tarballs' paths.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

interface Package {
  readonly name: string
  readonly description: string
  /** Files of src/ from which everything else is reached. */
  readonly entryPoints: readonly string[]
  /** By subpath: the entry point, without its ending. */
  readonly exports: Readonly<Record<string, string>>
  readonly hasCommand: boolean
  readonly readme: string
}

const root = resolve(import.meta.dirname, '..')
const source = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const packages: readonly Package[] = [
  {
    name: 'millrace',
    description: source.description,
    entryPoints: ['cli/main.ts', 'client/index.ts', 'testing/index.ts'],
    exports: { '.': 'client/index', './client': 'client/index', './testing': 'testing/index' },
    hasCommand: true,
    readme: 'docs/package.md',
  },
  {
    name: '@millrace/client',
    description: 'A client for Millrace, Apache Kafka and every other broker that speaks its protocol',
    entryPoints: ['client/index.ts'],
    exports: { '.': 'client/index' },
    hasCommand: false,
    readme: 'docs/client.md',
  },
]

const revision = committedRevision()
const destination = resolve(process.argv[2] ?? join(root, 'dist'))
mkdirSync(destination, { recursive: true })
for (const one of packages) process.stdout.write(`${pack(one)}\n`)

function pack(one: Package): string {
  const staging = mkdtempSync(join(tmpdir(), 'millrace-pack-'))
  try {
    compile(one, staging)
    if (one.hasCommand) cpSync(join(root, 'scripts/launcher.cjs'), join(staging, 'bin/millrace.cjs'))
    cpSync(join(root, 'LICENSE'), join(staging, 'LICENSE'))
    cpSync(join(root, one.readme), join(staging, 'README.md'))
    writeFileSync(join(staging, 'package.json'), `${JSON.stringify(manifestOf(one, staging), null, 2)}\n`)
    const flags = ['--silent', '--json', '--ignore-scripts', '--pack-destination', destination]
    const printed = execFileSync('npm', ['pack', ...flags], { cwd: staging, encoding: 'utf8' })
    return join(destination, fileNameIn(JSON.parse(printed)))
  } finally {
    rmSync(staging, { recursive: true })
  }
}

/** Under the name that npm has for it. Undefined where the sources are none of a commit. */
function committedRevision(): string | undefined {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim()
  try {
    const isRoot = git('rev-parse', '--show-prefix') === ''
    return isRoot && git('status', '--porcelain') === '' ? git('rev-parse', 'HEAD') : undefined
  } catch {
    return undefined
  }
}

/** npm 11 prints a list of packages, npm 12 an object of them. */
function fileNameIn(printed: Record<string, { readonly filename: string }>): string {
  return Object.values(printed)[0].filename
}

function compile(one: Package, staging: string): void {
  const config = join(staging, 'tsconfig.json')
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      ...{ noEmit: false, declaration: true, rewriteRelativeImportExtensions: true },
      ...{ rootDir: join(root, 'src'), outDir: join(staging, 'dist'), typeRoots: [join(root, 'node_modules/@types')] },
    },
    files: one.entryPoints.map(file => join(root, 'src', file)),
    include: [],
  }
  writeFileSync(config, JSON.stringify(options))
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['--project', config], { stdio: ['ignore', 2, 2] })
  rmSync(config)
}

function manifestOf(one: Package, staging: string): object {
  const exported = Object.entries(one.exports).map(([subpath, file]) => [
    subpath,
    { types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` },
  ])
  return {
    name: one.name,
    version: source.version,
    description: one.description,
    license: source.license,
    type: 'module',
    engines: source.engines,
    ...(one.hasCommand ? { bin: { millrace: './bin/millrace.cjs' } } : {}),
    ...(revision === undefined ? {} : { gitHead: revision }),
    exports: { ...Object.fromEntries(exported), './package.json': './package.json' },
    files: one.hasCommand ? ['bin', 'dist'] : ['dist'],
    dependencies: dependenciesOf(staging),
  }
}

/** Of the source's dependencies those that the compiled files import. A package that is not among them fails the build. */
function dependenciesOf(staging: string): Record<string, string> {
  const found = new Set<string>()
  for (const file of globSync('dist/**/*.js', { cwd: staging })) {
    const text = readFileSync(join(staging, file), 'utf8')
    for (const match of text.matchAll(/(?:\bfrom |\bimport |\bimport\(|\bloadNative\()'([^'.][^']*)'/g)) {
      const [, specifier] = match
      if (isBuiltin(specifier)) continue
      found.add(
        specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/'),
      )
    }
  }
  const versions: Record<string, string> = source.dependencies
  const missing = [...found].filter(name => versions[name] === undefined)
  if (missing.length > 0) throw new Error(`imported, but no dependency of package.json: ${missing.join(', ')}`)
  return Object.fromEntries([...found].sort().map(name => [name, versions[name]]))
}
