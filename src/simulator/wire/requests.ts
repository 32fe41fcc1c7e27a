import { createTopicsRequest, createTopicsResponse } from '../../protocol/messages/create-topics.ts'
import { fetchRequest, fetchResponse } from '../../protocol/messages/fetch.ts'
import { initProducerIdRequest, initProducerIdResponse } from '../../protocol/messages/init-producer-id.ts'
import { listOffsetsRequest, listOffsetsResponse } from '../../protocol/messages/list-offsets.ts'
import { produceRequest, produceResponse } from '../../protocol/messages/produce.ts'

/** Requests and their responses, for `WireClient.call`. */
export const produceApi = { request: produceRequest, response: produceResponse }
export const fetchApi = { request: fetchRequest, response: fetchResponse }
export const listOffsetsApi = { request: listOffsetsRequest, response: listOffsetsResponse }
export const initProducerApi = { request: initProducerIdRequest, response: initProducerIdResponse }
export const createTopicsApi = { request: createTopicsRequest, response: createTopicsResponse }
