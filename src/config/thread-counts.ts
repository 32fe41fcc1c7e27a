import { ErrorCode } from '../base/error-code.ts'
import type { ConfigRefusal } from './alter-config.ts'
import { brokerSetting } from './broker-settings.ts'
import type { StaticTexts } from './load-config.ts'

const cleanerThreads = 'log.cleaner.threads'

/** Counts of threads that Kafka changes while it runs. Those without effect here are checked, too: clients are told the same. */
const threadSettings = [
  'background.threads',
  'num.io.threads',
  'num.network.threads',
  'num.recovery.threads.per.data.dir',
  'num.replica.fetchers',
]

/**
 * A change of a running broker makes of a number of threads no less than half and no more than double. Given are the texts in
 * force before and after it. Kafka refuses others as invalid requests.
 */
export function checkThreadCounts(before: StaticTexts, after: StaticTexts): ConfigRefusal | undefined {
  for (const name of threadSettings) {
    const [current, wanted] = [countIn(before, name), countIn(after, name)]
    const bound =
      wanted < Math.floor(current / 2)
        ? `value should be at least half the current value ${current}`
        : `value should not be greater than double the current value ${current}`
    if (isOutside(wanted, current))
      return invalid(`Dynamic thread count update validation failed for ${name}=${wanted}, ${bound}`)
  }
  return checkCleanerThreads(countIn(before, cleanerThreads), countIn(after, cleanerThreads), after)
}

function checkCleanerThreads(current: number, wanted: number, texts: StaticTexts): ConfigRefusal | undefined {
  const isEnabled = (texts.get('log.cleaner.enable') ?? 'true').trim().toLowerCase() === 'true'
  // Where there are none (which Kafka does not start with) any number may follow.
  if (!isEnabled || wanted === current || current === 0) return undefined
  if (wanted < 1) return invalid('Log cleaner threads should be at least 1')
  if (!isOutside(wanted, current)) return undefined
  const bound = wanted < current ? 'reduced to less than half' : 'increased to more than double'
  return invalid(`Log cleaner threads cannot be ${bound} the current value ${current}`)
}

function isOutside(wanted: number, current: number): boolean {
  return wanted < Math.floor(current / 2) || wanted > current * 2
}

function countIn(texts: StaticTexts, name: string): number {
  return Number(texts.get(name) ?? brokerSetting(name)?.default)
}

function invalid(message: string): ConfigRefusal {
  return { errorCode: ErrorCode.invalidRequest, message }
}
