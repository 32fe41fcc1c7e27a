import { ErrorCode } from '../../src/base/error-code.ts'
import { decode } from '../../src/protocol/codec.ts'
import { decodeResponseHeader } from '../../src/protocol/frames.ts'
import { produceRequest, produceResponse } from '../../src/protocol/messages/produce.ts'
import { Reader } from '../../src/protocol/reader.ts'
import { decodeBatchHeader } from '../../src/records/batch-header.ts'
import type { Call } from './tap.ts'

/** One batch of an idempotent producer on its way to a partition. */
interface SentBatch {
  /** The same for each time that it is sent. */
  readonly id: string
  /** Undefined: not answered. */
  readonly answer: { readonly errorCode: ErrorCode; readonly baseOffset: number } | undefined
}

/**
 * Whether the batches of a Produce whose answer was lost had been appended, were sent again, and were then answered with the
 * offsets that they have already. What is wrong, if anything.
 */
export function checkSentAgain(lost: Call, calls: readonly Call[]): string[] {
  const later = calls.slice(calls.indexOf(lost) + 1).flatMap(batchesOf)
  const first = batchesOf(lost)
  if (first.length === 0) return ['the answer that was lost was to no batch of an idempotent producer']
  return first.flatMap(({ id, answer }) => {
    if (answer?.errorCode !== ErrorCode.none) return [`batch ${id} was not appended: ${JSON.stringify(answer)}`]
    const again = later.filter(one => one.id === id)
    if (again.length === 0) return [`batch ${id} was not sent again`]
    const taken = again.find(one => one.answer?.errorCode === ErrorCode.none)?.answer
    if (taken === undefined) return [`batch ${id} was sent again and not taken: ${JSON.stringify(again)}`]
    if (taken.baseOffset === answer.baseOffset) return []
    return [`batch ${id} is at ${answer.baseOffset}, and was said to be at ${taken.baseOffset} when it was sent again`]
  })
}

function batchesOf({ apiKey, apiVersion, body, answer }: Call): SentBatch[] {
  if (apiKey !== produceRequest.key) return []
  const { topicData } = decode(produceRequest, apiVersion, body)
  const answers = answer === undefined ? [] : answersOf(apiVersion, answer)
  return topicData.flatMap(({ name, topicId, partitionData }) =>
    partitionData.flatMap(({ index, records }) => {
      if (records === null) return []
      const { producerId, producerEpoch, baseSequence } = decodeBatchHeader(records)
      if (producerId < 0) return []
      const id = `${baseSequence} of producer ${producerId}, epoch ${producerEpoch}, in ${name || topicId}-${index}`
      // Kafka does not keep the order of the request.
      const own = answers.find(one => one.name === name && one.topicId === topicId)
      return [{ id, answer: own?.partitionResponses.find(one => one.index === index) }]
    }),
  )
}

function answersOf(apiVersion: number, answer: Buffer) {
  const reader = new Reader(answer)
  decodeResponseHeader(reader, produceResponse.key, apiVersion)
  return decode(produceResponse, apiVersion, reader).responses
}
