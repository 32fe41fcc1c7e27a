import { ErrorCode } from '../../../src/base/error-code.ts'
import { ApiKey } from '../../../src/protocol/apis.ts'
import { decode } from '../../../src/protocol/codec.ts'
import { decodeResponseHeader } from '../../../src/protocol/frames.ts'
import { findCoordinatorRequest, findCoordinatorResponse } from '../../../src/protocol/messages/find-coordinator.ts'
import { Reader } from '../../../src/protocol/reader.ts'
import { DriverProcess } from '../driver-process.ts'
import type { Call } from '../tap.ts'
import { type Case, jobFor } from './case.ts'

/** From the client's first word to its end: what it was told made it give up, and no time of its own running out. */
const atOnceMs = 5000
const patienceMs = 30_000
const transaction = 1

/** Transactions are not offered so far: the client is told so, and does not wait for what never comes. */
function noTransactions(client: string, said: RegExp): Case {
  return {
    name: 'a transaction is refused at once',
    client,
    target: 'millrace',
    run: async world => {
      const command = await world.command(client)
      const topic = world.fresh('refused')
      const argument = { id: world.fresh('writer'), commit: true, jobs: [jobFor(topic)] }
      const driver = new DriverProcess(command, 'transact', world.tap.bootstrap, argument)
      const { calls, wrong } = await givesUp(driver, () => world.tap.calls, said)
      const asked = calls.filter(call => isCoordinatorOf(call, transaction))
      const codes = asked.map(errorOf)
      const isTold = asked.length > 0 && codes.every(code => code === ErrorCode.transactionalIdAuthorizationFailed)
      const isAsked = calls.some(({ apiKey }) => apiKey === ApiKey.initProducerId || apiKey === ApiKey.produce)
      return [
        ...wrong,
        ...(isTold ? [] : [`FindCoordinator of a transaction is answered ${codes}`]),
        ...(isAsked ? ['the client goes on after it was refused'] : []),
      ]
    },
  }
}

/** Share groups are not offered so far, and no client tries for long. */
const noShareGroups: Case = {
  name: 'a share group is refused at once',
  client: 'java',
  target: 'millrace',
  run: async world => {
    const command = await world.command('java')
    const argument = { topic: world.fresh('refused'), group: world.fresh('sharing'), count: 1 }
    const driver = new DriverProcess(command, 'share', world.tap.bootstrap, argument)
    const { wrong } = await givesUp(driver, () => world.tap.calls, /UnsupportedVersionException/)
    return wrong
  },
}

/** A driver that must fail, soon, and say why. */
async function givesUp(driver: DriverProcess, calls: () => readonly Call[], said: RegExp) {
  const first = calls().length
  let failure = ''
  try {
    driver.askToStop()
    await driver.finish(patienceMs)
  } catch (error) {
    failure = (error as Error).message
  }
  const own = calls().slice(first)
  const tookMs = performance.now() - (own[0]?.sentAt ?? 0)
  const wrong: string[] = []
  if (failure === '') wrong.push('the client was not refused')
  else if (!said.test(failure)) wrong.push(`it said: ${failure}`)
  if (tookMs > atOnceMs) wrong.push(`it took ${Math.round(tookMs)} ms to give up`)
  return { calls: own, wrong }
}

function isCoordinatorOf({ apiKey, apiVersion, body }: Call, keyType: number): boolean {
  if (apiKey !== ApiKey.findCoordinator || apiVersion === 0) return false
  return decode(findCoordinatorRequest, apiVersion, body).keyType === keyType
}

function errorOf({ apiVersion, answer }: Call): ErrorCode | undefined {
  if (answer === undefined) return undefined
  const reader = new Reader(answer)
  decodeResponseHeader(reader, findCoordinatorResponse.key, apiVersion)
  const { errorCode, coordinators } = decode(findCoordinatorResponse, apiVersion, reader)
  return apiVersion < 4 ? errorCode : coordinators[0]?.errorCode
}

export const refusalCases: readonly Case[] = [
  noTransactions('java', /TransactionalIdAuthorizationException/),
  noTransactions('confluent-python', /TRANSACTIONAL_ID_AUTHORIZATION_FAILED/),
  noTransactions('kcat', /[Tt]ransactional Id authorization failed/),
  noShareGroups,
]
