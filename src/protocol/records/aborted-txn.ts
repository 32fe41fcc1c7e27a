import { type Infer, int64, message } from '../schema.ts'

export const abortedTxn = message(
  'AbortedTxn',
  { versions: '0', flexible: 'none' },
  {
    producerId: int64('0+'),
    firstOffset: int64('0+'),
    lastOffset: int64('0+'),
    lastStableOffset: int64('0+'),
  },
)
export interface AbortedTxn extends Infer<typeof abortedTxn> {}
