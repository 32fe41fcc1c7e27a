import type { Setting } from './setting.ts'

/** Why a text that is set changes nothing; undefined where it does, or where it says what is so anyway. */
export function whyWithoutEffect(setting: Setting, text: string): string | undefined {
  const parsed = setting.parse(text)
  if (parsed.type !== 'parsed' || parsed.text === setting.default) return undefined
  if (setting.inertBecause !== undefined) return setting.inertBecause
  return parsed.text === setting.noEffect?.except ? undefined : setting.noEffect?.because
}
