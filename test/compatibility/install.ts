import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheDir, installOnce } from './cache.ts'
import { runOrThrow } from './child-process.ts'
import type { DriverCommand } from './driver-process.ts'
import { findJdk } from './kafka/java.ts'
import { KAFKA_VERSION, kafkaJars } from './kafka/kafka-jars.ts'
import { MissingTool, requireTool } from './missing-tool.ts'

const CLIENTS = join(import.meta.dirname, 'clients')
const INSTALL_LIMIT_MS = 20 * 60_000

/** A folder in the cache that belongs to these very files: other versions, or another checkout's, lie beside it. */
function folderFor(name: string, files: readonly string[], salt = ''): string {
  const hash = createHash('sha256').update(salt)
  for (const file of files) hash.update(readFileSync(file))
  return join(cacheDir(), 'clients', `${name}-${hash.digest('hex').slice(0, 12)}`)
}

/** A driver that runs where it lies, on this Node. */
export async function inPlace(name: string): Promise<DriverCommand> {
  return { command: process.execPath, args: [join(CLIENTS, name, 'client.mjs')] }
}

/**
 * The folder with the packages of npm as the client's lock file has them, for this Node; `env` is added for their install
 * scripts.
 */
export async function npmPackages(name: string, env: Record<string, string> = {}): Promise<string> {
  const source = join(CLIENTS, name)
  const manifests = ['package.json', 'package-lock.json'].map(file => join(source, file))
  const npm = requireTool('npm', 'comes with Node')
  return await installOnce(folderFor(name, manifests, process.version), async dir => {
    for (const file of manifests) cpSync(file, join(dir, file.slice(source.length)))
    const path = `${dirname(process.execPath)}:${process.env.PATH}`
    const options = { cwd: dir, env: { ...process.env, PATH: path, ...headers(), ...env }, timeoutMs: INSTALL_LIMIT_MS }
    await runOrThrow(npm, ['ci', '--no-audit', '--no-fund'], options)
  })
}

export async function fromNpm(name: string, env: Record<string, string> = {}): Promise<DriverCommand> {
  const source = join(CLIENTS, name)
  const installed = await npmPackages(name, env)
  // Modules are found from the driver's own folder upwards, so it runs from within the installation.
  const driver = join(source, 'client.mjs')
  const shared = join(CLIENTS, 'shared', 'driver.mjs')
  const run = join(installed, folderFor('run', [driver, shared]).split('/').at(-1)!)
  mkdirSync(run, { recursive: true })
  cpSync(driver, join(run, 'client', 'client.mjs'))
  cpSync(shared, join(run, 'shared', 'driver.mjs'))
  return { command: process.execPath, args: [join(run, 'client', 'client.mjs')] }
}

/** Node's own C++ headers, if they came with it: otherwise a native package would look for them on the network. */
function headers(): Record<string, string> {
  const home = dirname(dirname(process.execPath))
  return existsSync(join(home, 'include', 'node')) ? { npm_config_nodedir: home } : {}
}

/** Packages of PyPI at the versions that requirements.txt states. */
export async function fromPyPi(name: string): Promise<DriverCommand> {
  const source = join(CLIENTS, name)
  const requirements = join(source, 'requirements.txt')
  const python = requireTool('python3', 'apt-get install python3 python3-pip')
  const version = await runOrThrow(python, ['--version'])
  const packages = await installOnce(folderFor(name, [requirements], version), async dir => {
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--root-user-action', 'ignore']
    await runOrThrow(python, [...pip, '--target', dir, '--requirement', requirements], { timeoutMs: INSTALL_LIMIT_MS })
  })
  const path = [packages, join(CLIENTS, 'shared')].join(':')
  const env = { PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1', PYTHONUTF8: '1' }
  return { command: python, args: [join(source, 'client.py')], env }
}

/** A Go program with the modules that its go.sum pins. */
export async function goProgram(name: string, source: string): Promise<string> {
  const go = requireTool('go', 'Go 1.26 or later')
  // Asked where the module is: a Go of 1.21 or later fetches the version that go.mod names.
  const found = /go(\d+)\.(\d+)/.exec(await runOrThrow(go, ['version'], { cwd: source }))
  if (found === null || Number(found[1]) * 1000 + Number(found[2]) < 1026)
    throw new MissingTool('Go 1.26 or later', found?.[0] ?? 'unknown')
  const files = readdirSync(source)
    .filter(file => /^go\.(mod|sum)$|\.go$/.test(file))
    .sort()
    .map(file => join(source, file))
  const installed = await installOnce(folderFor(name, files, found[0]), async dir => {
    const program = ['build', '-mod=readonly', '-o', join(dir, 'program'), '.']
    await runOrThrow(go, program, { cwd: source, timeoutMs: INSTALL_LIMIT_MS })
  })
  return join(installed, 'program')
}

export async function fromGo(name: string): Promise<DriverCommand> {
  return { command: await goProgram(name, join(CLIENTS, name)), args: [] }
}

/** A class compiled against Kafka's jars. */
export async function fromJava(name: string): Promise<DriverCommand> {
  const source = join(CLIENTS, name, 'Driver.java')
  const { java, javac, version } = findJdk()
  const classpath = join(await kafkaJars(), '*')
  const classes = await installOnce(folderFor(name, [source], `${KAFKA_VERSION} ${version}`), async dir => {
    await runOrThrow(javac, ['-cp', classpath, '-d', dir, source])
  })
  const quick = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Dfile.encoding=UTF-8']
  return { command: java, args: [...quick, '-cp', `${classes}:${classpath}`, 'Driver'] }
}
