import { AssertionFailure } from '../base/assert.ts'
import { apiOf } from '../protocol/apis.ts'
import type { Request } from './network/request.ts'
import type { BrokerServices } from './services.ts'

/**
 * For handlers that answer in a later turn. A failure there ends the connection, since an answer of an unknown kind cannot
 * be made up; a broken invariant ends the broker.
 */
export function answerLater(services: BrokerServices, request: Request, work: Promise<void>): void {
  work.catch(error => {
    if (error instanceof AssertionFailure) {
      services.fail(error)
      return
    }
    const name = apiOf(request.header.apiKey)?.name ?? 'request'
    services.log.write(
      'error',
      `${name} from ${request.owner.remoteAddress} failed: ${String(error?.message ?? error)}`,
      { error },
    )
    if (request.answer === undefined) request.closeConnection(`its ${name} could not be answered`)
  })
}
