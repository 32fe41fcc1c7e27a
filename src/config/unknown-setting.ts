import { nearestName } from '../base/nearest-name.ts'
import { brokerSettings, staticSettings } from './broker-settings.ts'

/** What is said of a name that is no setting, after the place where it stands. */
export function unknownSettingText(name: string): string {
  const meant = nearestSetting(name)
  const question = meant === undefined ? '' : `; did you mean ${meant}?`
  return `${name} is not a setting of Kafka 4.4 or Millrace and is ignored${question}`
}

/** One that changes something here comes before one that is as near and does not. */
export function nearestSetting(name: string): string | undefined {
  const inForce = Object.values(brokerSettings).map(setting => setting.name)
  return nearestName(name, [...inForce, ...staticSettings.keys()])
}
