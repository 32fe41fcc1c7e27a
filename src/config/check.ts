/** Bounds of a number, both included. */
export interface NumberRules {
  readonly min?: number
  readonly max?: number
  /** A single value that is allowed besides the range. */
  readonly or?: number
}

/** What is wrong with a number, in Kafka's words. NaN passes every bound, as it does there. */
export function checkRange(value: number, { min, max, or }: NumberRules): string | undefined {
  if (or !== undefined && min !== undefined && max !== undefined) {
    const isAllowed = value === or || (value >= min && value <= max)
    return isAllowed ? undefined : `Value must be between ${min} and ${max} or equal to ${or}`
  }
  if (min !== undefined && value < min) return `Value must be at least ${min}`
  if (max !== undefined && value > max) return `Value must be no more than ${max}`
  return undefined
}

export interface ListRules {
  readonly oneOf?: readonly string[]
  readonly nonEmpty?: true
  /** A rule of its own on all elements: a whole message of Kafka's, or undefined. */
  readonly check?: (name: string, elements: readonly string[]) => string | undefined
}

/** What is wrong with a list, as a whole message of Kafka's. */
export function checkElements(name: string, elements: readonly string[], rules: ListRules): string | undefined {
  if (rules.check) return rules.check(name, elements)
  if (rules.nonEmpty && elements.length === 0) {
    const valid = rules.oneOf ? `[${rules.oneOf.join(', ')}]` : 'any non-empty value'
    return `Configuration '${name}' must not be empty. Valid values include: ${valid}`
  }
  if (elements.includes('')) return `Configuration '${name}' values must not be empty.`
  const stranger = rules.oneOf && elements.find(element => !rules.oneOf?.includes(element))
  if (stranger === undefined) return undefined
  return `Invalid value ${stranger} for configuration ${name}: String must be one of: ${rules.oneOf?.join(', ')}`
}

/** `[partitionId]:[brokerId],...`, or a star for all. */
export function checkThrottledReplicas(name: string, elements: readonly string[]): string | undefined {
  const isRight =
    (elements.length === 1 && elements[0] === '*') || elements.every(element => /^(\d+:\d+)?$/.test(element))
  if (isRight) return undefined
  const form = '[partitionId]:[brokerId],[partitionId]:[brokerId],...'
  const problem = `${name} must be the literal '*' or a list of replicas in the following format: ${form}`
  return `Invalid value [${elements.join(', ')}] for configuration ${name}: ${problem}`
}
