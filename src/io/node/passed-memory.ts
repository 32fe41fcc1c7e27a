import { assert } from '../../base/assert.ts'

/** What goes from one thread to another may have bytes in these places. */
interface PassedBytes {
  readonly batches?: Buffer
  readonly output?: Buffer
}

/** The memory that a message takes along: the sender has it no longer. */
export function memoryOf(message: object): ArrayBuffer[] {
  const { batches, output }: PassedBytes = message
  return [batches, output].flatMap(bytes => {
    if (bytes === undefined) return []
    assert(bytes.buffer instanceof ArrayBuffer, 'memory that is passed on is not shared')
    return [bytes.buffer]
  })
}

/** A message as it was sent: it comes with arrays of bytes where there were Buffers. */
export function asSent<Message extends object>(message: Message): Message {
  const { batches, output }: PassedBytes = message
  return {
    ...message,
    ...(batches && { batches: Buffer.from(batches.buffer, batches.byteOffset, batches.length) }),
    ...(output && { output: Buffer.from(output.buffer, output.byteOffset, output.length) }),
  }
}
