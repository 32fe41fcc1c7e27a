import { checkAcked, checkRecords } from '../check-records.ts'
import { drive, type SeenRecord } from '../driver-process.ts'
import type { Job } from '../job.ts'
import type { Subject } from './subject.ts'

/** Reads every topic from its start, and finds each record where its producer was told that it is. */
export async function consumeFromStart(subject: Subject): Promise<string[]> {
  const jobs = [...subject.jobs('first'), ...subject.jobs('second')]
  const seen = await consume(subject, 'start', jobs)
  return [
    ...checkRecords(seen, jobs, { from: subject.beganAt, to: Date.now() }),
    ...checkAcked(subject.acked, seen, jobs),
  ]
}

/** Reads from the moment between the two halves: exactly the second. */
export async function consumeByTime(subject: Subject): Promise<string[]> {
  const jobs = subject.jobs('second')
  const seen = await consume(subject, subject.halfTimeAt, jobs)
  return checkRecords(seen, jobs, { from: subject.halfTimeAt, to: Date.now() })
}

async function consume(subject: Subject, from: 'start' | number, jobs: readonly Job[]): Promise<SeenRecord[]> {
  const count = jobs.reduce((sum, job) => sum + job.count, 0)
  const argument = { topics: subject.topics, from, count, group: subject.newGroup('consume') }
  return (await drive(subject.command, 'consume', subject.broker.bootstrap, argument)).records
}
