/** A longer line is not waited for: no broker takes such a record. */
export const maxLineBytes = 64 * 1024 * 1024

const newline = 0x0a
const carriageReturn = 0x0d

/**
 * Cuts bytes that come in pieces into lines, without a change to what is in them: they may be no UTF-8. A line ends with \n or
 * \r\n; other characters that end lines elsewhere (\r alone, U+2028) may well be part of a record.
 */
export class LineSplitter {
  #pieces: Buffer[] = []
  #pieceBytes = 0

  /** The lines that end in this piece. They may share its memory. */
  push(piece: Buffer): Buffer[] {
    const lines: Buffer[] = []
    let start = 0
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
      lines.push(this.#completed(piece.subarray(start, end)))
      start = end + 1
    }
    if (start < piece.length) {
      this.#pieces.push(piece.subarray(start))
      this.#pieceBytes += piece.length - start
    }
    return lines
  }

  /** The last line, if it does not end with \n. */
  end(): Buffer[] {
    return this.#pieceBytes === 0 ? [] : [this.#completed(Buffer.alloc(0))]
  }

  /** The line that has begun is longer than `maxLineBytes`. */
  get isLineTooLong(): boolean {
    return this.#pieceBytes > maxLineBytes
  }

  #completed(last: Buffer): Buffer {
    const line = this.#pieceBytes === 0 ? last : Buffer.concat([...this.#pieces, last])
    this.#pieces = []
    this.#pieceBytes = 0
    return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line
  }
}
