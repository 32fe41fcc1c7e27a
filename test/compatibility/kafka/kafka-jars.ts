import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDir, installOnce } from '../cache.ts'
import { runOrThrow } from '../child-process.ts'
import { requireTool } from '../missing-tool.ts'
import { findJdk } from './java.ts'

export const KAFKA_VERSION = '4.4.0'

const TOOL_INDEX = 'tools.json'
/** Packages whose classes with a `main` are Kafka's command line. */
const TOOL_PACKAGE =
  /^(?:org\/apache\/kafka\/(?:tools|shell|server\/quota)|kafka\/(?:tools|admin))\/(?:[a-z/]+\/)?(\w+)\.class$/

/** Folder of Kafka's jars, fetched from Maven Central the first time. `COMPATIBILITY_KAFKA_JARS` names another. */
export async function kafkaJars(): Promise<string> {
  const dir = process.env.COMPATIBILITY_KAFKA_JARS ?? join(cacheDir(), `kafka-${KAFKA_VERSION}`)
  return await installOnce(dir, async partial => {
    const maven = requireTool('mvn', 'apt-get install maven')
    const pom = join(import.meta.dirname, 'pom.xml')
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${partial}`]
    await runOrThrow(maven, ['-q', '-B', '-f', pom, ...goal])
    const index: Record<string, string> = {}
    for (const jar of readdirSync(partial).filter(name => name.startsWith('kafka'))) {
      const listing = await runOrThrow(findJdk().jar, ['--list', '--file', join(partial, jar)])
      for (const entry of listing.split('\n')) {
        const name = TOOL_PACKAGE.exec(entry)?.[1]
        if (name !== undefined) index[name] ??= entry.slice(0, -'.class'.length).replaceAll('/', '.')
      }
    }
    writeFileSync(join(partial, TOOL_INDEX), JSON.stringify(index))
  })
}

/** The full name of a tool's class: `DumpLogSegments` is `org.apache.kafka.tools.DumpLogSegments`. */
export async function toolClass(name: string): Promise<string> {
  const index = JSON.parse(readFileSync(join(await kafkaJars(), TOOL_INDEX), 'utf8')) as Record<string, string>
  const found = index[name]
  if (found === undefined) throw new Error(`Kafka ${KAFKA_VERSION} has no tool named ${name}`)
  return found
}
