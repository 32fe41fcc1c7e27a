/** Thrown when an invariant of this program is broken. It stops the node (never caught to go on). */
export class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure'
}

/**
 * States what must be true here. Stays on in production.
 * The text is static: a template string would be built even when the claim holds.
 */
export function assert(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new AssertionFailure(claim)
}

/** The end of a `switch` over a union: a compile error when a case is missing, an assertion failure at run time. */
export function unreachable(value: never): never {
  throw new AssertionFailure(`no case for ${JSON.stringify(value)}`)
}
