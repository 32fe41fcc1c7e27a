/** Of whose file the kernel has a part in memory. */
export interface TouchedFile {
  /** How much traffic there had been when this file last had some; undefined before. */
  touchedAt: number | undefined
}

/**
 * Guesses which files are in the kernel's memory: those that were written to or read when not much has been since. A read of
 * one of them may be made on the loop; others wait for the disk in the pool.
 */
export class Traffic {
  readonly #warmBytes: number
  #bytes = 0

  constructor(warmBytes: number) {
    this.#warmBytes = warmBytes
  }

  add(file: TouchedFile, bytes: number): void {
    this.#bytes += bytes
    file.touchedAt = this.#bytes
  }

  isWarm({ touchedAt }: TouchedFile): boolean {
    return touchedAt !== undefined && this.#bytes - touchedAt <= this.#warmBytes
  }
}
