import { createHook } from 'node:async_hooks'
import { registerHooks, syncBuiltinESMExports } from 'node:module'

/** Node's modules through which the real world could come in. Those of `io/node` only may name them. */
const refusedModules: ReadonlySet<string> = new Set([
  ...['fs', 'fs/promises', 'net', 'tls', 'dns', 'dns/promises', 'dgram', 'http', 'https', 'http2'],
  ...['worker_threads', 'child_process', 'cluster', 'ffi', 'timers', 'timers/promises', 'perf_hooks', 'readline'],
])

/** What runs when microtasks and ticks do, in the order in which it was made; and writes to streams that are open already. */
const harmlessResources: ReadonlySet<string> = new Set(['PROMISE', 'Microtask', 'TickObject', 'Immediate', 'WRITEWRAP'])

/** Resources that synchronous calls make too. Those run to their end within the call and are harmless. */
const synchronousCalls: Readonly<Record<string, RegExp>> = {
  ZLIB: /\bsyncBufferWrapper\b/,
  PBKDF2REQUEST: /\bpbkdf2Sync\b/,
}

const globalTimers = ['setTimeout', 'setInterval', 'setImmediate'] as const
const randomCalls = [
  'randomBytes',
  'randomFill',
  'randomFillSync',
  'randomInt',
  'randomUUID',
  'pseudoRandomBytes',
] as const

/** The time, chance and I/O of this machine were used inside of a simulated world. */
export class TripwireTouched extends Error {
  override readonly name = 'TripwireTouched'
}

/** Where our own sources are: code outside of it, packages above all, is not asked what it imports. */
const sourceRoot = new URL('..', import.meta.url).href
const realDoor = new URL('../io/node/', import.meta.url).href

/**
 * Stands guard while a simulated world runs: whatever would make two runs of one seed differ throws where it is used, or,
 * where that cannot be seen in time, is kept for `assertUntouched`. To be armed before the code under test is imported.
 * One at a time in a process.
 */
export class Tripwire {
  readonly #touches: string[] = []
  readonly #restorers: (() => void)[] = []

  static arm(): Tripwire {
    const tripwire = new Tripwire()
    tripwire.#replaceGlobals()
    tripwire.#replaceCrypto()
    tripwire.#guardModules()
    tripwire.#watchResources()
    return tripwire
  }

  /** Throws when anything was touched so far, even if whoever touched it has swallowed the error. Cheap. */
  assertUntouched(): void {
    if (this.#touches.length > 0) throw new TripwireTouched(this.#touches.join('\n'))
  }

  disarm(): void {
    for (const restore of this.#restorers.splice(0).reverse()) restore()
  }

  #touch(what: string): TripwireTouched {
    const error = new TripwireTouched(`${what} is not to be used in a simulated world`)
    this.#touches.push(error.stack ?? error.message)
    return error
  }

  #replace<T extends object>(target: T, name: keyof T & string, value: unknown): void {
    const original = Object.getOwnPropertyDescriptor(target, name)
    Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: original?.enumerable })
    this.#restorers.push(() => {
      if (original === undefined) delete target[name]
      else Object.defineProperty(target, name, original)
    })
  }

  #refusal(what: string): () => never {
    return () => {
      throw this.#touch(what)
    }
  }

  #replaceGlobals(): void {
    for (const name of globalTimers) this.#replace(globalThis, name, this.#refusal(name))
    this.#replace(globalThis, 'Date', this.#guardedDate())
    this.#replace(Math, 'random', this.#refusal('Math.random'))
    this.#replace(globalThis.performance, 'now', this.#refusal('performance.now'))
    const hrtime = Object.assign(this.#refusal('process.hrtime'), { bigint: this.#refusal('process.hrtime.bigint') })
    this.#replace(process, 'hrtime', hrtime)
    this.#replace(process, 'uptime', this.#refusal('process.uptime'))
    this.#replace(globalThis.crypto, 'getRandomValues', this.#refusal('crypto.getRandomValues'))
    this.#replace(globalThis.crypto, 'randomUUID', this.#refusal('crypto.randomUUID'))
  }

  /** A Date that can still be made from a number, which is a matter of formatting. */
  #guardedDate(): DateConstructor {
    const touch = (what: string) => this.#touch(what)
    return new Proxy(globalThis.Date, {
      construct(target, parameters, newTarget) {
        if (parameters.length === 0) throw touch('new Date()')
        return Reflect.construct(target, parameters, newTarget)
      },
      apply() {
        throw touch('Date()')
      },
      get(target, name, receiver) {
        if (name === 'now') throw touch('Date.now')
        return Reflect.get(target, name, receiver)
      },
    })
  }

  #replaceCrypto(): void {
    const crypto = process.getBuiltinModule('node:crypto')
    for (const name of randomCalls) this.#replace(crypto, name, this.#refusal(`crypto.${name}`))
    // Modules that have imported a name get the replaced one too, and the original again.
    syncBuiltinESMExports()
    this.#restorers.unshift(syncBuiltinESMExports)
  }

  #guardModules(): void {
    const hooks = registerHooks({
      resolve: (specifier, context, nextResolve) => {
        const importer = context.parentURL ?? ''
        const isGuarded = importer.startsWith(sourceRoot) && !importer.startsWith(realDoor)
        if (isGuarded && isRefused(specifier)) throw this.#touch(`${specifier} (imported by ${importer})`)
        return nextResolve(specifier, context)
      },
    })
    this.#restorers.push(() => hooks.deregister())
    const getBuiltinModule = process.getBuiltinModule
    const guarded = (name: string) => {
      if (isRefused(name)) throw this.#touch(name)
      return getBuiltinModule(name)
    }
    this.#replace(process, 'getBuiltinModule', guarded)
  }

  #watchResources(): void {
    const hook = createHook({
      // Thrown errors would end the process here, so what is seen is kept.
      init: (_, type) => {
        if (!harmlessResources.has(type) && !isSynchronous(type)) this.#touch(`a resource of type ${type}`)
      },
      trackPromises: false,
    })
    hook.enable()
    this.#restorers.push(() => void hook.disable())
  }
}

function isRefused(specifier: string): boolean {
  return refusedModules.has(specifier.replace(/^node:/, ''))
}

function isSynchronous(type: string): boolean {
  return synchronousCalls[type]?.test(new Error().stack ?? '') === true
}
