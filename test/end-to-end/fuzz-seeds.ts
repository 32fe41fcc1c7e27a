/**
 * A fixed number of cases from fixed seeds. FUZZ_SECONDS=600 goes on with fresh ones for so long; what fails prints its
 * seed, and FUZZ_SEED runs that one alone.
 */
const seconds = Number(process.env.FUZZ_SECONDS ?? 0)
const oneSeed = process.env.FUZZ_SEED

/** Whether all fixed seeds run, so that something can be said of all of them together. */
export const runsFixedSeeds = oneSeed === undefined

/** Whatever fails, the seed is named. */
export async function named<T>(about: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new Error(about, { cause: error })
  }
}

export function* fuzzSeeds(cases: number): Generator<number> {
  if (oneSeed !== undefined) {
    yield Number(oneSeed)
    return
  }
  const end = performance.now() + 1000 * seconds
  for (let seed = 1; seed <= cases; seed++) yield seed
  while (performance.now() < end) yield Math.floor(2 ** 20 + Math.random() * 2 ** 31)
}
