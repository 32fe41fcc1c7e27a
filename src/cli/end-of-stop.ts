/**
 * Answers whether a stop could put all in order; undefined when it goes on for longer than `patienceMs` after a failure: what it
 * waits for may never come then.
 */
export async function endOfStop(
  closing: Promise<boolean>,
  failure: Promise<Error>,
  patienceMs: number,
): Promise<boolean | undefined> {
  let hasFailed = false
  let timer: NodeJS.Timeout | undefined
  const late = failure.then(async () => {
    hasFailed = true
    await new Promise<void>(resolve => {
      timer = setTimeout(resolve, patienceMs)
    })
    return undefined
  })
  const isClean = await Promise.race([closing, late]).finally(() => clearTimeout(timer))
  return isClean === undefined ? undefined : isClean && !hasFailed
}
