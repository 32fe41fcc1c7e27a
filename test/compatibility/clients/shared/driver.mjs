// What the drivers in JavaScript share: arguments in, events out. clients/README.md has the protocol.

/** How long `consume` listens for a record too many. */
export const GRACE_MS = 350

export function emit(event, fields = {}) {
  process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`)
}

export function recordsOf({ prefix, first, count, valueBytes }) {
  return Array.from({ length: count }, (_, index) => {
    const n = first + index
    return { n, key: `k${n % 10}`, value: `${prefix}-${n}`.padEnd(valueBytes, '.'), headers: { job: prefix } }
  })
}

/** Resolves when the runner closes our standard input: a member is asked to leave. */
export function stopRequested() {
  return new Promise(resolve => process.stdin.resume().once('end', resolve))
}

/** Counts records and resolves when the expected number has come and nothing more did. */
export class Expected {
  #left
  #resolve
  constructor(count) {
    this.#left = count
    this.reached = new Promise(resolve => {
      this.#resolve = resolve
    })
    if (count === 0) setTimeout(this.#resolve, GRACE_MS)
  }

  seen() {
    if (--this.#left === 0) setTimeout(this.#resolve, GRACE_MS)
  }
}

export async function main(verbs) {
  const [verb, bootstrap, json] = process.argv.slice(2)
  try {
    await verbs[verb](bootstrap, JSON.parse(json))
    emit('done')
    process.exitCode = 0
  } catch (error) {
    process.stderr.write(`${error?.stack ?? error}\n`)
    process.exitCode = 1
  }
  // A client that leaves a timer or a socket behind must not keep the run waiting.
  setTimeout(() => process.exit(), 2000).unref()
}
