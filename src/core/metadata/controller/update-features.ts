import { ErrorCode } from '../../../base/error-code.ts'
import type { FeatureUpdateKey } from '../../../protocol/messages/update-features.ts'
import { elrFeature, kraftVersionFeature, type LevelRange, metadataVersionFeature } from '../features.ts'
import type { KnownRecord } from '../records.ts'
import type { ControllerCommand } from './commands.ts'
import type { ControllerState } from './controller-state.ts'
import type { Draft } from './draft.ts'

const UpgradeType = { upgrade: 1, safeDowngrade: 2, unsafeDowngrade: 3 } as const

/** Sets the levels of features: all of the request, or none. That of kraft.version is looked at only: see `ControllerOptions`. */
export function decideUpdateFeatures(
  command: ControllerCommand & { readonly type: 'updateFeatures' },
  state: ControllerState,
  draft: Draft,
): Draft {
  const { featureUpdates, validateOnly } = command.request
  const records: KnownRecord[] = []
  for (const update of featureUpdates) {
    const problem = updateProblem(update, state)
    if (problem !== undefined) {
      const errorMessage = `The update failed for all features since the following feature had an error: ${problem}`
      const response = { throttleTimeMs: 0, errorCode: ErrorCode.invalidUpdateVersion, errorMessage }
      return draft.reply(command, { type: command.type, response })
    }
    if (update.feature !== kraftVersionFeature && update.maxVersionLevel !== levelOf(update.feature, state)) {
      records.push({ type: 'featureLevel', version: 0, name: update.feature, featureLevel: update.maxVersionLevel })
    }
  }
  if (!validateOnly) draft.add(...records)
  const results = featureUpdates.map(({ feature }) => ({ feature, errorCode: ErrorCode.none, errorMessage: 'NONE' }))
  const response = { throttleTimeMs: 0, errorCode: ErrorCode.none, errorMessage: null, results }
  return draft.reply(command, { type: command.type, response })
}

function levelOf(feature: string, { metadata, options }: ControllerState): number {
  return feature === kraftVersionFeature ? options.kraftVersion() : metadata.featureLevel(feature)
}

function updateProblem(update: FeatureUpdateKey, state: ControllerState): string | undefined {
  const { feature, maxVersionLevel: level } = update
  const problem = levelProblem(update, state)
  if (problem === undefined) return undefined
  return problem.startsWith('Unsupported')
    ? problem
    : `Invalid update version ${level} for feature ${feature}. ${problem}`
}

function levelProblem(update: FeatureUpdateKey, state: ControllerState): string | undefined {
  const { feature, maxVersionLevel: level } = update
  const type = update.allowDowngrade ? UpgradeType.unsafeDowngrade : update.upgradeType
  const current = levelOf(feature, state)
  if (type < UpgradeType.upgrade || type > UpgradeType.unsafeDowngrade) {
    return 'The controller does not support the given upgrade type.'
  }
  if (level < 0) return 'A feature version cannot be less than 0.'
  const unsupported = whoCannot(feature, level, state)
  if (unsupported !== undefined) return unsupported
  if (level > current && type !== UpgradeType.upgrade) return "Can't downgrade to a newer version."
  if (level < current && type === UpgradeType.upgrade) {
    return "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade."
  }
  return level < current ? downgradeProblem(feature, level, current, type) : undefined
}

/** Records of the higher level are in the log already, and nobody would know what they mean. */
function downgradeProblem(feature: string, level: number, current: number, type: number): string | undefined {
  if (feature === kraftVersionFeature || feature === elrFeature) return `The level of ${feature} cannot be lowered.`
  if (feature !== metadataVersionFeature) return undefined
  const what = `Unsupported metadata.version downgrade from ${current} to ${level}.`
  return type === UpgradeType.unsafeDowngrade
    ? `${what} Unsafe metadata downgrade is not supported in this version.`
    : `${what} Refusing to perform the requested downgrade because it might delete metadata information.`
}

/** Every node must be able to do what the level says. Level 0 is none, which anybody can do. */
function whoCannot(feature: string, level: number, { options, metadata }: ControllerState): string | undefined {
  const own = options.supportedFeatures.get(feature)
  const here = rangeProblem(`Local controller ${options.nodeId}`, own, level, feature)
  if (here !== undefined) return here
  for (const broker of metadata.brokers()) {
    const found = broker.features.find(one => one.name === feature)
    const range = found && { min: found.minSupportedVersion, max: found.maxSupportedVersion }
    const there = rangeProblem(`Broker ${broker.id}`, range, level, feature)
    if (there !== undefined) return there
  }
  return undefined
}

function rangeProblem(who: string, range: LevelRange | undefined, level: number, feature: string): string | undefined {
  if (level === 0 && feature !== metadataVersionFeature && range) return undefined
  if (!range) return level === 0 ? undefined : `${who} does not support this feature.`
  if (level >= range.min && level <= range.max) return undefined
  return `${who} only supports versions ${range.min}-${range.max}`
}
