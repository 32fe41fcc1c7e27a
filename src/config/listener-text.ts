import { brokerSetting } from './broker-settings.ts'
import type { StaticTexts } from './load-config.ts'

/** What was set for one listener alone (`listener.name.internal.max.connection.creation.rate`), if that is a value. */
export function listenerText(texts: StaticTexts, listenerName: string, name: string): string | undefined {
  const text = texts.get(`listener.name.${listenerName.toLowerCase()}.${name}`)
  const parsed = text === undefined ? undefined : brokerSetting(name)?.parse(text)
  return parsed?.type === 'parsed' ? parsed.text : undefined
}
