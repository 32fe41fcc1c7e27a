/** The two messages of each API that more than one part of the client uses. */
import { findCoordinatorRequest, findCoordinatorResponse } from '../../protocol/messages/find-coordinator.ts'
import { listOffsetsRequest, listOffsetsResponse } from '../../protocol/messages/list-offsets.ts'
import { metadataRequest, metadataResponse } from '../../protocol/messages/metadata.ts'

export const metadataApi = { request: metadataRequest, response: metadataResponse }
export const findCoordinatorApi = { request: findCoordinatorRequest, response: findCoordinatorResponse }
export const listOffsetsApi = { request: listOffsetsRequest, response: listOffsetsResponse }
