/** Bytes of hexadecimal text in which spaces and line breaks have no meaning. */
export function hex(text: string): Buffer {
  return Buffer.from(text.replace(/\s+/g, ''), 'hex')
}
