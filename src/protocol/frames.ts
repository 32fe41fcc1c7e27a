/**
 * The headers in front of every message, for both ends. A frame here is what the int32 size counts; the size itself is cut
 * off by the channel and added by `Writer.beginFrame`.
 */
import { ApiKey, apiOf } from './apis.ts'
import { decode, encode } from './codec.ts'
import { type ApiVersionsResponse, apiVersionsResponse } from './messages/api-versions.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import type { Fields, Input, Message } from './schema.ts'
import type { Writer, Written } from './writer.ts'

export interface RequestHeader {
  readonly apiKey: ApiKey
  readonly apiVersion: number
  readonly correlationId: number
  /** A client that sends null has the id ''. */
  readonly clientId: string
}

export interface ServedVersions {
  readonly minVersion: number
  readonly maxVersion: number
}

/**
 * Reads a request's header; the reader then stands at the body. `served` says which versions of an API are spoken here.
 * Throws for an API or version that is not: the connection is then closed without an answer, as Kafka does.
 *
 * ApiVersions is the exception, since with it a client asks what is spoken. Its header is given at any version. If the
 * version is not a served one, the body is not to be read and the answer is `unsupportedVersion` in a body of version 0.
 */
export function decodeRequestHeader(
  reader: Reader,
  served: (apiKey: ApiKey) => ServedVersions | undefined = apiOf,
): RequestHeader {
  const apiKey = reader.int16()
  const apiVersion = reader.int16()
  const correlationId = reader.int32()
  const api = apiOf(apiKey)
  const versions = api === undefined ? undefined : served(apiKey)
  if (api === undefined) throw new ProtocolError(`API key ${apiKey} is not served`, 0)
  if (versions === undefined) throw new ProtocolError(`API key ${apiKey} (${api.name}) is not served`, 0)
  const isServed = apiVersion >= versions.minVersion && apiVersion <= versions.maxVersion
  if (!isServed && apiKey !== ApiKey.apiVersions) {
    throw new ProtocolError(`${api.name} version ${apiVersion} is not served`, 2)
  }
  const length = reader.int16()
  const clientId = length < 0 ? '' : reader.text(length)
  if (apiVersion >= api.flexibleFrom) reader.skipTags()
  return { apiKey, apiVersion, correlationId, clientId }
}

/** Whether a response header has a tagged section. Those of ApiVersions have none, so that any client can read them. */
function hasFlexibleResponseHeader(apiKey: ApiKey, apiVersion: number): boolean {
  const api = apiOf(apiKey)
  return api !== undefined && apiKey !== ApiKey.apiVersions && apiVersion >= api.flexibleFrom
}

/** A whole frame, size included. `message` is a response, and knows its API. */
export function encodeResponse<F extends Fields>(
  writer: Writer,
  header: { readonly apiVersion: number; readonly correlationId: number },
  message: Message<F>,
  response: Input<Message<F>>,
): Written {
  writer.beginFrame()
  writer.int32(header.correlationId)
  if (hasFlexibleResponseHeader(message.key, header.apiVersion)) writer.uvarint(0)
  encode(message, header.apiVersion, response, writer)
  return writer.finish()
}

/** A whole frame, size included. `message` is a request, and knows its API. */
export function encodeRequest<F extends Fields>(
  writer: Writer,
  header: { readonly apiVersion: number; readonly correlationId: number; readonly clientId: string },
  message: Message<F>,
  request: Input<Message<F>>,
): Written {
  writer.beginFrame()
  writer.int16(message.key)
  writer.int16(header.apiVersion)
  writer.int32(header.correlationId)
  // The client id keeps its old encoding in every version of the header.
  writer.string(header.clientId)
  if (header.apiVersion >= message.flexibleFrom) writer.uvarint(0)
  encode(message, header.apiVersion, request, writer)
  return writer.finish()
}

/** Reads a response's header and returns the correlation id; the reader then stands at the body. */
export function decodeResponseHeader(reader: Reader, apiKey: ApiKey, apiVersion: number): number {
  const correlationId = reader.int32()
  if (hasFlexibleResponseHeader(apiKey, apiVersion)) reader.skipTags()
  return correlationId
}

/** The id that the answer to a request will carry; undefined for a frame that is too short to have one. */
export function peekCorrelationId(frame: Buffer): number | undefined {
  return frame.length < 4 ? undefined : frame.readInt32BE()
}

/**
 * Reads the body of an ApiVersions answer. A broker that does not know the version asked answers in version 0, with
 * `unsupportedVersion` and, if it is kind, its own range of ApiVersions.
 */
export function decodeApiVersionsResponse(reader: Reader, requestedVersion: number): ApiVersionsResponse {
  const { buffer, position, end } = reader
  try {
    return decode(apiVersionsResponse, requestedVersion, reader)
  } catch (error) {
    if (!(error instanceof ProtocolError) || requestedVersion === 0) throw error
  }
  return decode(apiVersionsResponse, 0, new Reader(buffer, position, end))
}
