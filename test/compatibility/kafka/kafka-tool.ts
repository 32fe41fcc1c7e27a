import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { type Finished, type RunOptions, run, start } from '../child-process.ts'
import { findJdk } from './java.ts'
import { kafkaJars, toolClass } from './kafka-jars.ts'

/** A JVM that lives for seconds: what it saves by not compiling well is most of its time. */
const SHORT_LIVED = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Dfile.encoding=UTF-8']

/** Runs one of Kafka's tools to its end: `kafkaTool('DumpLogSegments', ['--files', …])`. */
export async function kafkaTool(name: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const { command, flags } = await commandOf(name)
  return await run(command, [...flags, ...args], { timeoutMs: 120_000, ...options })
}

/** Starts one of Kafka's tools and leaves it running, its three streams piped. `jvm` are more flags for Java. */
export async function startKafkaTool(
  name: string,
  args: readonly string[],
  jvm: readonly string[] = [],
): Promise<ChildProcess> {
  const { command, flags } = await commandOf(name)
  return start(command, [...jvm, ...flags, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
}

async function commandOf(name: string): Promise<{ command: string; flags: string[] }> {
  const jars = await kafkaJars()
  return { command: findJdk().java, flags: [...SHORT_LIVED, '-cp', join(jars, '*'), await toolClass(name)] }
}
