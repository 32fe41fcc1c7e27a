/** A promise that was not kept. */
export interface Violation {
  /** The number of the invariant: I1, I2, … */
  readonly invariant: string
  readonly text: string
}

/** More are counted, but not kept. */
const maxKept = 20

export class Violations {
  readonly #kept: Violation[] = []
  #count = 0

  get kept(): readonly Violation[] {
    return this.#kept
  }

  get count(): number {
    return this.#count
  }

  add(invariant: string, text: string): void {
    this.#count++
    if (this.#kept.length < maxKept) this.#kept.push({ invariant, text })
  }
}
