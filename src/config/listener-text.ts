import { brokerSetting } from './broker-settings.ts'
import type { StaticTexts } from './load-config.ts'

/** What may be set for one listener, besides what belongs to TLS and SASL. */
const ofListeners: ReadonlySet<string> = new Set(['max.connections', 'max.connection.creation.rate'])

/** Whether this names a setting of one listener where only the broker as a whole has it. */
export function isOfBrokerOnly(name: string): boolean {
  const rest = /^listener\.name\.[^.]+\.(.+)$/.exec(name)?.[1]
  const setting = rest === undefined ? undefined : brokerSetting(rest)
  return setting !== undefined && setting.inertBecause === undefined && !ofListeners.has(setting.name)
}

/** What was set for one listener alone (`listener.name.internal.max.connection.creation.rate`), if that is a value. */
export function listenerText(texts: StaticTexts, listenerName: string, name: string): string | undefined {
  const text = texts.get(`listener.name.${listenerName.toLowerCase()}.${name}`)
  const parsed = text === undefined ? undefined : brokerSetting(name)?.parse(text)
  return parsed?.type === 'parsed' ? parsed.text : undefined
}
