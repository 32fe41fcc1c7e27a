#!/usr/bin/env node
// The command of the built package. Plain JavaScript that every old Node can read: it is what tells that it is too old.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 15)) {
  console.error(`Millrace needs Node 22.15 or later; this is ${process.versions.node} (${process.execPath}).`)
  process.exit(1)
}

// Before anything uses the thread pool: cold reads, syncs and unpacking share it, and Node's four threads are few.
process.env.UV_THREADPOOL_SIZE = process.env.UV_THREADPOOL_SIZE || '16'

// Compiled once, a command starts in a third of the time. Only the user's own cache is trusted with code.
const cache = process.env.XDG_CACHE_HOME || (process.env.HOME && `${process.env.HOME}/.cache`)
if (cache) require('node:module').enableCompileCache(`${cache}/millrace/compiled`)

// When npx is killed nothing tells what it has started: that shall not go on alone. A stop that has begun is not broken off by this signal.
if (process.env.npm_lifecycle_event) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGHUP')
  }, 500)
  timer.unref()
}

void import('../dist/cli/main.js')
