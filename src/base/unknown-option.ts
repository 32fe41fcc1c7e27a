import { nearestName } from './nearest-name.ts'

/** What is wrong with the first option that nobody knows, for people; undefined when all are known. */
export function unknownOption(options: object, known: readonly string[]): string | undefined {
  const name = Object.keys(options).find(one => !known.includes(one))
  if (name === undefined) return undefined
  const meant = nearestName(name, known)
  const advice = meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`
  return `there is no option ${name}: ${advice}`
}
