import { brokerSetting } from '../../config/broker-settings.ts'
import { topicSetting } from '../../config/topic-config.ts'
import { whyWithoutEffect } from '../../config/without-effect.ts'
import type { MetadataDelta } from '../../core/metadata/metadata-delta.ts'
import { ResourceType } from '../../core/metadata/metadata-image.ts'

interface Before {
  config(resourceType: number, resourceName: string): ReadonlyMap<string, string>
}

/** Of so many topics one line gives the names: one request may set thousands. */
const maxNames = 3

/** A line for each setting that a change sets and that changes nothing here. At a start only what all topics share is told. */
export function linesOfNoEffect(
  delta: Pick<MetadataDelta, 'changedConfigs'>,
  {
    before,
    nodeId,
    isReplay,
  }: { readonly before: Before | undefined; readonly nodeId: number; readonly isReplay: boolean },
): string[] {
  const found = new Map<string, { readonly because: string; readonly places: string[] }>()
  for (const { resourceType, resourceName, config } of delta.changedConfigs()) {
    const isOfTopic = resourceType === ResourceType.topic && !isReplay
    const isOurs = resourceType === ResourceType.broker && (resourceName === '' || resourceName === String(nodeId))
    if (!isOfTopic && !isOurs) continue
    const known = before?.config(resourceType, resourceName)
    for (const [name, text] of config) {
      if (known?.get(name) === text) continue
      const setting = isOfTopic ? topicSetting(name) : brokerSetting(name)
      const because = setting && whyWithoutEffect(setting, text)
      if (because === undefined) continue
      const places = found.get(name)?.places ?? []
      places.push(isOfTopic ? `topic ${resourceName}` : resourceName === '' ? 'all brokers' : 'this broker')
      found.set(name, { because, places })
    }
  }
  return [...found].map(
    ([name, { because, places }]) => `${name}, set for ${listOf(places)}, has no effect: ${because}`,
  )
}

function listOf(places: readonly string[]): string {
  const rest = places.length - maxNames
  return places.slice(0, maxNames).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}
