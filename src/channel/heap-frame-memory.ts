import type { FrameMemory } from './frame-reader.ts'

/**
 * Frames get memory of their own, which the garbage collector takes back: records that an application holds on to are views
 * of it. The bound is that of the requests whose answers are awaited.
 */
export const heapFrameMemory: FrameMemory = {
  lease(bytes) {
    return { bytes: bytes < 4096 ? Buffer.allocUnsafe(bytes) : Buffer.allocUnsafeSlow(bytes), release() {} }
  },
  forget() {},
  copy(bytes) {
    return { bytes: Buffer.from(bytes), release() {} }
  },
}
