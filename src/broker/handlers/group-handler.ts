import type { Message } from '../../protocol/schema.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { Request } from '../network/request.ts'

/** A handler for all versions that the request has. */
export function groupHandler(message: Message, handle: (request: Request) => void): ApiHandler {
  return { apiKey: message.key, minVersion: message.minVersion, maxVersion: message.maxVersion, handle }
}
