import { brokerSetting } from './broker-settings.ts'

export interface EnvironmentSettings {
  /** Setting names with the variable that gives them and its value. */
  readonly settings: ReadonlyMap<string, { readonly variable: string; readonly value: string }>
  /** Variables that start with MILLRACE_ and name no setting. */
  readonly unknown: readonly string[]
}

/** Variables with our prefix that are not settings of a broker. */
const otherVariables = new Set(['MILLRACE_PROFILE', 'MILLRACE_CONFIG', 'MILLRACE_BOOTSTRAP'])

/** What Kubernetes puts into every pod for a service named `kafka` or `millrace`. */
const serviceLink = /_(?:SERVICE_HOST|SERVICE_PORT(?:_.*)?|PORT(?:_\d+_(?:TCP|UDP)(?:_.*)?)?)$/

/**
 * Settings from the environment: KAFKA_LOG_DIRS or MILLRACE_LOG_DIRS give `log.dirs`, and the latter counts. Names are decoded
 * as the image of Apache Kafka does: `___` is a dash, `__` an underscore, `_` a dot. Only names of settings count, since
 * other programs and Kubernetes have variables that start with KAFKA_ too. MILLRACE_FLUSH is `millrace.flush`.
 */
export function settingsOfEnvironment(environment: Readonly<Record<string, string | undefined>>): EnvironmentSettings {
  const settings = new Map<string, { variable: string; value: string }>()
  const unknown: string[] = []
  const variables = Object.keys(environment).sort()
  for (const prefix of ['KAFKA_', 'MILLRACE_']) {
    for (const variable of variables) {
      const value = environment[variable]
      if (value === undefined || !variable.startsWith(prefix)) continue
      const name = settingNamed(decodeName(variable.slice(prefix.length)))
      if (name !== undefined) settings.set(name, { variable, value })
      else if (prefix === 'MILLRACE_' && !otherVariables.has(variable) && !serviceLink.test(variable)) {
        unknown.push(variable)
      }
    }
  }
  return { settings, unknown }
}

function decodeName(encoded: string): string {
  return encoded.replace(/___|__|_/g, run => (run.length === 3 ? '-' : run.length === 2 ? '_' : '.')).toLowerCase()
}

function settingNamed(name: string): string | undefined {
  if (brokerSetting(name)) return name
  return brokerSetting(`millrace.${name}`) && `millrace.${name}`
}
