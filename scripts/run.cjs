// Runs a TypeScript file, or the test runner, on the Node that is there: `node scripts/run.cjs FILE ARGS...`, or
// `node scripts/run.cjs --test ARGS...`. Plain JavaScript that every old Node can read: it is what tells that it is too old.
// The Node that `npm ci` brings along is new enough for all of it; where that does not install (musl), the machine's is used.
const args = process.argv.slice(2)
const isTest = args[0] === '--test'
const [major, minor] = process.versions.node.split('.').map(Number)
const [neededMajor, neededMinor] = isTest ? [24, 0] : [22, 15]
if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
  const what = isTest ? "Millrace's tests need" : 'Millrace needs'
  const needed = `${what} Node ${neededMajor}.${neededMinor} or later`
  // npm puts the Node that it has brought along before the machine's.
  const way = process.env.npm_lifecycle_event
    ? '`npm ci` brings one along where there is a build of it (Linux with glibc, x64 or arm64).'
    : 'After `npm ci` the npm scripts run on one that it brings: `npm start`, `npm test`, `npm run -s millrace -- --help`.'
  console.error(`${needed}; this is ${process.versions.node} (${process.execPath}). ${way}`)
  process.exit(1)
}

// Before anything uses the thread pool: cold reads, syncs and unpacking share it, and Node's four threads are few.
process.env.UV_THREADPOOL_SIZE = process.env.UV_THREADPOOL_SIZE || '16'

// Compiled once, a command starts in a third of the time. Only the user's own cache is trusted with code.
const cache = process.env.XDG_CACHE_HOME || (process.env.HOME && `${process.env.HOME}/.cache`)
if (cache) require('node:module').enableCompileCache(`${cache}/millrace/compiled`)

if (process.env.npm_lifecycle_event) endWithParent()
if (major >= 26 && !isTest) runHere()
else runInChild()

/** When npm is killed nothing tells what it has started: that shall not go on alone. A stop that has begun is not broken off by this signal. */
function endWithParent() {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGHUP')
  }, 500)
  timer.unref()
}

function runHere() {
  const file = require('node:path').resolve(args[0])
  process.argv.splice(1, 2, file)
  void import(require('node:url').pathToFileURL(file).href)
}

/** For flags. Node reads types without a flag and without a warning only from 24.3 on. */
function runInChild() {
  const flags = major >= 26 ? [] : ['--experimental-strip-types', '--disable-warning=ExperimentalWarning']
  const child = require('node:child_process').spawn(process.execPath, [...flags, ...args], { stdio: 'inherit' })
  // The child decides when to end. Ctrl-C reaches it from the terminal too; it takes both as one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', code => {
    process.exit(code === null ? 1 : code)
  })
}
