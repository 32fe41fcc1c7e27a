import { assert } from '../../base/assert.ts'
import type { FileRange } from '../disk.ts'
import { NodeFile, type RangeReader } from './node-file.ts'

/** A file range on its way: what of it is left, and the reference to its file. */
export class PendingRange implements RangeReader {
  readonly file: NodeFile
  readonly endPosition: number
  #position: number
  #isReleased = false
  readonly #whenCut: () => void

  /** Watches the file from now on: bytes that are cut off and written anew are not the ones that were to be sent. */
  constructor(range: FileRange, whenCut: () => void) {
    assert(range.file instanceof NodeFile, 'the file is of this implementation')
    this.file = range.file
    this.#position = range.position
    this.endPosition = range.position + range.length
    this.#whenCut = whenCut
    this.file.watchRange(this)
  }

  get position(): number {
    return this.#position
  }

  get left(): number {
    return this.endPosition - this.#position
  }

  get isReleased(): boolean {
    return this.#isReleased
  }

  advance(bytes: number): void {
    assert(bytes <= this.left, 'a range is not sent beyond its end')
    this.#position += bytes
  }

  cut(): void {
    this.#whenCut()
  }

  /** Gives the reference back, once. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.file.unwatchRange(this)
    this.file.release()
  }
}
