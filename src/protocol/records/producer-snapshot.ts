import { fields, type Infer, int16, int32, int64, list, message, timestamp64, uint32 } from '../schema.ts'

export const producerEntry = fields({
  producerId: int64('0+'),
  epoch: int16('0+'),
  lastSequence: int32('0+'),
  lastOffset: int64('0+'),
  offsetDelta: int32('0+'),
  timestamp: timestamp64('0+'),
  coordinatorEpoch: int32('0+'),
  currentTxnFirstOffset: int64('0+'),
})
export interface ProducerEntry extends Infer<typeof producerEntry> {}

export const producerSnapshot = message(
  'ProducerSnapshot',
  { versions: '1', flexible: 'none' },
  {
    /** CRC-32C of everything behind it. */
    crc: uint32('0+'),
    producerEntries: list('0+', producerEntry),
  },
)
export interface ProducerSnapshot extends Infer<typeof producerSnapshot> {}
