import { bool, errorCode, int8, int16, int32, int64, list, message, string } from '../../../src/protocol/schema.ts'

/** What a transaction coordinator sends to the partitions of a transaction when it ends. Millrace does not serve it yet. */
export const writeTxnMarkers = {
  request: message(
    'WriteTxnMarkersRequest',
    { key: 27, versions: '1-2', flexible: '1+' },
    {
      markers: list('0+', {
        producerId: int64('0+'),
        producerEpoch: int16('0+'),
        /** True: commit. */
        transactionResult: bool('0+'),
        topics: list('0+', { name: string('0+'), partitionIndexes: list('0+', int32) }),
        coordinatorEpoch: int32('0+'),
        transactionVersion: int8('2+', { default: 0, ignorable: true }),
      }),
    },
  ),
  response: message(
    'WriteTxnMarkersResponse',
    { key: 27, versions: '1-2', flexible: '1+' },
    {
      markers: list('0+', {
        producerId: int64('0+'),
        topics: list('0+', {
          name: string('0+'),
          partitions: list('0+', { partitionIndex: int32('0+'), errorCode: errorCode('0+') }),
        }),
      }),
    },
  ),
}
