/** The known name that `name` is most likely a slip of; undefined when none is near. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const given = plain(name)
  // A third of the letters may be wrong, and two at least, since two that are swapped count twice.
  let nearest = Math.min(4, Math.max(2, Math.floor(given.length / 3))) + 1
  let found: string | undefined
  for (const candidate of known) {
    const distance = distanceOf(given, plain(candidate), nearest)
    if (distance >= nearest) continue
    nearest = distance
    found = candidate
  }
  return found
}

/** `num.partitions`, `numPartitions` and `NUM_PARTITIONS` are one. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** How many letters have to be changed, added or taken away; `limit` when it is as many or more. */
function distanceOf(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit) return limit
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let at = 1; at <= from.length; at++) {
    const next = [at]
    for (let other = 1; other <= to.length; other++) {
      const replaced = row[other - 1] + (from[at - 1] === to[other - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[other] + 1, next[other - 1] + 1))
    }
    row = next
  }
  return Math.min(limit, row[to.length])
}
