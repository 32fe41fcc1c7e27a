import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory for as long as `use` runs. It is gone afterwards, also when a signal ends the program. */
export async function inDirectory<T>(prefix: string, use: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), `${prefix}-`))
  const remove = (): void => rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
  process.on('exit', remove)
  try {
    return await use(dir)
  } finally {
    process.off('exit', remove)
    remove()
  }
}
