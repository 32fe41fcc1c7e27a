import { fields, type Infer, int16, int32, int64, list, message, timestamp64, uint32 } from '../schema.ts'

export const producerEntry = fields({
  producerId: int64('1'),
  epoch: int16('1'),
  lastSequence: int32('1'),
  lastOffset: int64('1'),
  offsetDelta: int32('1'),
  timestamp: timestamp64('1'),
  coordinatorEpoch: int32('1'),
  currentTxnFirstOffset: int64('1'),
})
export interface ProducerEntry extends Infer<typeof producerEntry> {}

export const producerSnapshot = message(
  'ProducerSnapshot',
  { versions: '1', flexible: 'none' },
  {
    crc: uint32('1'),
    producerEntries: list('1', producerEntry),
  },
)
export interface ProducerSnapshot extends Infer<typeof producerSnapshot> {}
