/** Topics that Kafka and Millrace keep for themselves. */
const internalTopics = new Set(['__consumer_offsets', '__transaction_state', '__share_group_state'])

export function isInternalTopic(name: string): boolean {
  return internalTopics.has(name)
}

const legal = /^[a-zA-Z0-9._-]{1,249}$/

/** Kafka's rule: 1 to 249 of letters, digits, '.', '_' and '-', and not '.' or '..'. */
export function isLegalTopicName(name: string): boolean {
  return legal.test(name) && name !== '.' && name !== '..'
}
