import type { Side } from '../side.ts'

/** Asks one broker in order; nothing in it depends on which one. */
export type Scenario = (side: Side) => Promise<void>

export type Scenarios = Readonly<Record<string, Scenario>>

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
