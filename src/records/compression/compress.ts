import { assert } from '../../base/assert.ts'
import { Codec } from './codec.ts'

/** The bytes in the codec's framing, as Kafka's own producer writes it. `level` is the codec's; its default if not given. */
export function compressSync(codec: number, _bytes: Buffer, _level?: number): Buffer {
  assert(codec === Codec.none, 'compression is not available')
  return _bytes
}
