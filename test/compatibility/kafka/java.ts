import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findTool, MissingTool } from '../missing-tool.ts'

const JVM_FOLDER = '/usr/lib/jvm'

export interface Jdk {
  readonly java: string
  readonly javac: string
  readonly jar: string
  /** As the JDK states it: `17.0.15`, `25.0.3`. */
  readonly version: string
}

/**
 * The newest JDK there is, so that what is measured of Kafka is the best it can do: `JAVA_HOME` if set, else the
 * system's folder of JDKs and the PATH.
 */
export function findJdk(): Jdk {
  const homes = process.env.JAVA_HOME === undefined ? installedHomes() : [process.env.JAVA_HOME]
  const found = homes.flatMap(home => jdkAt(home) ?? [])
  const best = found.sort((a, b) => release(b) - release(a))[0]
  if (best === undefined || release(best) < 17) {
    throw new MissingTool('a JDK 17 or later', 'apt-get install openjdk-17-jdk-headless')
  }
  return best
}

function installedHomes(): string[] {
  const homes = existsSync(JVM_FOLDER) ? readdirSync(JVM_FOLDER).map(name => join(JVM_FOLDER, name)) : []
  const onPath = findTool('javac')
  return onPath === undefined ? homes : [...homes, dirname(dirname(realpathSync(onPath)))]
}

function jdkAt(home: string): Jdk | undefined {
  const bin = (name: string): string => join(home, 'bin', name)
  if (!['java', 'javac', 'jar'].every(name => existsSync(bin(name))) || !existsSync(join(home, 'release')))
    return undefined
  const version = /^JAVA_VERSION="(.*)"/m.exec(readFileSync(join(home, 'release'), 'utf8'))?.[1]
  return version === undefined ? undefined : { java: bin('java'), javac: bin('javac'), jar: bin('jar'), version }
}

function release(jdk: Jdk): number {
  return Number.parseInt(jdk.version, 10)
}
