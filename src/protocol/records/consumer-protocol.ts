import { bytes, type Infer, int32, list, message, string } from '../schema.ts'

export const consumerProtocolSubscription = message(
  'ConsumerProtocolSubscription',
  { versions: '0-3', flexible: 'none' },
  {
    topics: list('0+', string),
    userData: bytes('0+', { nullable: '0+', default: null }),
    ownedPartitions: list(
      '1+',
      {
        topic: string('1+'),
        partitions: list('1+', int32),
      },
      { ignorable: true },
    ),
    generationId: int32('2+', { default: -1, ignorable: true }),
    rackId: string('3+', { nullable: '3+', default: null, ignorable: true }),
  },
)
export interface ConsumerProtocolSubscription extends Infer<typeof consumerProtocolSubscription> {}

export const consumerProtocolAssignment = message(
  'ConsumerProtocolAssignment',
  { versions: '0-3', flexible: 'none' },
  {
    assignedPartitions: list('0+', {
      topic: string('0+'),
      partitions: list('0+', int32),
    }),
    userData: bytes('0+', { nullable: '0+', default: null }),
  },
)
export interface ConsumerProtocolAssignment extends Infer<typeof consumerProtocolAssignment> {}
