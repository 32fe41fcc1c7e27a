const maxLength = 249

/** What is wrong with the name of a topic, in Kafka's words; undefined for a name that may be used. */
export function topicNameProblem(name: string): string | undefined {
  if (name === '') return 'Topic name is invalid: the empty string is not allowed'
  if (name === '.' || name === '..') return `Topic name is invalid: '${name}' is not allowed`
  if (name.length > maxLength) {
    return `Topic name is invalid: the length of '${name}' is longer than the max allowed length ${maxLength}`
  }
  if (!/^[a-zA-Z0-9._-]+$/.test(name)) {
    const rule = "contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return `Topic name is invalid: '${name}' ${rule}`
  }
  return undefined
}

/** Names that differ only in dots and underscores would be one in the names of metrics. Undefined: it can collide with none. */
export function collisionKey(name: string): string | undefined {
  return /[._]/.test(name) ? name.replaceAll('.', '_') : undefined
}

/** The topic of the metadata log itself, which is no topic of the cluster. */
export const metadataTopic = '__cluster_metadata'
