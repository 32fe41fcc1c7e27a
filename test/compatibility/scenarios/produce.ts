import { setTimeout as pause } from 'node:timers/promises'
import { drive } from '../driver-process.ts'
import type { Job } from '../job.ts'
import { storedBatches } from '../stored-batches.ts'
import type { Subject } from './subject.ts'

/** Apart by more than any clock's grain, so that a time between the halves belongs to neither. */
const HALF_TIME_MS = 25

/** Sends everything in two halves, and looks into the broker's files for what the client really sent. */
export async function produce(subject: Subject): Promise<string[]> {
  const { command, broker } = subject
  await subject.create(subject.topics)
  subject.beganAt = Date.now()
  const first = await drive(command, 'produce', broker.bootstrap, { jobs: subject.jobs('first') })
  await pause(HALF_TIME_MS)
  subject.halfTimeAt = Date.now()
  await pause(HALF_TIME_MS)
  const second = await drive(command, 'produce', broker.bootstrap, { jobs: subject.jobs('second') })
  const acked = [...first.acked, ...second.acked]
  subject.acked = acked
  const sent = [...subject.jobs('first'), ...subject.jobs('second')].reduce((sum, { count }) => sum + count, 0)
  const wrong =
    acked.length === 0 || acked.length === sent ? [] : [`${acked.length} records were acknowledged of ${sent}`]
  return [...wrong, ...subject.jobs('first').flatMap(job => checkStored(subject, job))]
}

function checkStored({ broker }: Subject, { topic, codec, idempotent }: Job): string[] {
  const batches = broker.logDirs.flatMap(logDir => storedBatches(logDir, topic))
  if (batches.length === 0) return [`${topic} has no batches in the broker's files`]
  return batches.flatMap(batch => {
    const wrong: string[] = []
    if (batch.magic !== 2) wrong.push(`${topic} has a batch of magic ${batch.magic}`)
    if (batch.codec !== codec) wrong.push(`${topic} has a batch with codec ${batch.codec}`)
    if (batch.producerId >= 0n !== idempotent) wrong.push(`${topic} has a batch of producer id ${batch.producerId}`)
    return wrong
  })
}
