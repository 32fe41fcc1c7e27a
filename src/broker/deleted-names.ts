const maxNames = 1000

/** Names of topics that were deleted and that nobody has asked for since. Of very many the last thousand are known. */
export class DeletedNames {
  /** The oldest first. */
  readonly #names = new Set<string>()

  add(name: string): void {
    this.#names.delete(name)
    this.#names.add(name)
    const [oldest] = this.#names
    if (this.#names.size > maxNames) this.#names.delete(oldest)
  }

  /** Whether the name is one of them. It is asked for now, and is none any more. */
  take(name: string): boolean {
    return this.#names.delete(name)
  }
}
