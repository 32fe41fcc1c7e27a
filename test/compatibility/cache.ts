import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * Where everything lies that the suite fetches or builds: Kafka's jars, clients, the load generator.
 * `COMPATIBILITY_CACHE` names another folder. Not `MILLRACE_…` or `KAFKA_…`: a broker reads those as its settings.
 */
export function cacheDir(): string {
  const base = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  return process.env.COMPATIBILITY_CACHE ?? join(base, 'millrace')
}

/**
 * Makes `dir` once. `fill` gets an empty folder beside it, which takes the name only when it is complete, so two
 * processes that install at the same time cannot see each other's half.
 */
export async function installOnce(dir: string, fill: (dir: string) => Promise<void>): Promise<string> {
  if (existsSync(join(dir, '.complete'))) return dir
  mkdirSync(dirname(dir), { recursive: true })
  const partial = mkdtempSync(`${dir}.partial-`)
  try {
    await fill(partial)
    writeFileSync(join(partial, '.complete'), '')
    if (!existsSync(join(dir, '.complete'))) {
      rmSync(dir, { recursive: true, force: true })
      renameSync(partial, dir)
    }
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
  return dir
}
