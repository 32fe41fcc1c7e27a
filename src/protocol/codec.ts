/**
 * Messages to bytes and back.
 *
 *   const request = decode(fetchRequest, version, buffer)            // Infer<typeof fetchRequest>
 *   const request = decode(fetchRequest, version, reader)            // from a Reader's position, which it moves
 *   const buffer = encodeToBuffer(fetchResponse, version, response)  // a Buffer of its own, everything copied
 *
 *   const writer = new Writer()                                      // one for many messages
 *   writer.beginFrame()                                              // if an int32 size shall come first
 *   encode(responseHeader, 1, { correlationId }, writer)
 *   encode(fetchResponse, version, response, writer)                 // response: Input<typeof fetchResponse>
 *   const { parts, byteLength } = writer.finish()                    // record bytes uncopied, as parts of their own
 *
 *   encodedSize(message, version, value)                             // bytes without any frame or header
 *
 * Decoding throws ProtocolError for anything that is no message of that version; bytes behind the message are left
 * alone (as Kafka does), `reader.left` tells how many. Strings, lists and structs are new; `bytes` and `records` are views
 * of the input. Encoding throws EncodeError for a value that the version cannot carry; the writer must then be
 * abandoned. `version` must be one the message has: asking for another is a bug of the caller.
 *
 * A codec is compiled on its first use and kept in the message. `node scripts/show-codec.ts FetchResponse 17` prints one.
 * Where code from strings is forbidden, the reference codec serves, at a tenth of the speed.
 */
import { assert } from '../base/assert.ts'
import { decoderSource } from './decoder-source.ts'
import { encoderSource } from './encoder-source.ts'
import { EncodeError, ProtocolError } from './protocol-error.ts'
import { int64FromHalves, Reader, readUvarint, skipTags, tooShort } from './reader.ts'
import { decodeByReference, encodeByReference } from './reference-codec.ts'
import type { Fields, Infer, Input, Message } from './schema.ts'
import { setInt64, Writer } from './writer.ts'

type Decoder = (reader: Reader) => any
type Encoder = (writer: Writer, value: any) => void

export function decode<F extends Fields>(
  message: Message<F>,
  version: number,
  source: Buffer | Reader,
): Infer<Message<F>> {
  const reader = source instanceof Reader ? source : new Reader(source)
  const decoder = (message.decoders[version] as Decoder | undefined) ?? compileDecoder(message, version)
  return decoder(reader)
}

export function encode<F extends Fields>(
  message: Message<F>,
  version: number,
  value: Input<Message<F>>,
  writer: Writer,
): void {
  const encoder = (message.encoders[version] as Encoder | undefined) ?? compileEncoder(message, version)
  encoder(writer, value)
}

export function encodeToBuffer<F extends Fields>(
  message: Message<F>,
  version: number,
  value: Input<Message<F>>,
): Buffer {
  const writer = new Writer({ chunkBytes: 512, copiesAll: true })
  encode(message, version, value, writer)
  return writer.finishBuffer()
}

/** The number of bytes that `encode` writes. It encodes to find out. */
export function encodedSize<F extends Fields>(message: Message<F>, version: number, value: Input<Message<F>>): number {
  const writer = new Writer({ chunkBytes: 512 })
  encode(message, version, value, writer)
  return writer.byteLength
}

function assertVersion(message: Message, version: number): void {
  assert(version >= message.minVersion && version <= message.maxVersion, 'a message is asked only for its own versions')
}

function compileDecoder(message: Message<any>, version: number): Decoder {
  assertVersion(message, version)
  const compiled = compile(decoderSource(message, version), `${message.name}.v${version}.decode`, decoding)
  const decoder: Decoder = compiled ?? (reader => decodeByReference(message, version, reader))
  message.decoders[version] = decoder
  return decoder
}

function compileEncoder(message: Message<any>, version: number): Encoder {
  assertVersion(message, version)
  const compiled = compile(encoderSource(message, version), `${message.name}.v${version}.encode`, encoding)
  const encoder: Encoder = compiled ?? ((writer, value) => encodeByReference(message, version, value, writer))
  message.encoders[version] = encoder
  return encoder
}

/** Undefined where the process may not make code from strings. The source holds nothing but what the schema says. */
function compile(source: string, name: string, helpers: object): any {
  try {
    return new Function('h', `${source}\n//# sourceURL=millrace:${name}`)(helpers)
  } catch (error) {
    if (error instanceof EvalError) return undefined
    throw error
  }
}

const noBytes = Buffer.alloc(0)

/** What compiled decoders call: the rare ways, and what is too long to stand in line. */
const decoding = {
  noBytes,
  uvarint: readUvarint,
  skipTags,
  short: tooShort,
  fail(problem: string, at: number): never {
    throw new ProtocolError(problem, at)
  },
  int64(high: number, low: number): number {
    // The low half comes as an int32.
    const value = high * 0x1_0000_0000 + (low >>> 0)
    return high >= -0x20_0000 && high < 0x20_0000 && value !== -0x20_0000_0000_0000
      ? value
      : int64FromHalves(high, low >>> 0)
  },
  text(buffer: Buffer, at: number, size: number): string {
    if (size > 6) return buffer.toString('utf8', at, at + size)
    let text = ''
    for (let i = at; i < at + size; i++) {
      if (buffer[i] > 0x7f) return buffer.toString('utf8', at, at + size)
      text += String.fromCharCode(buffer[i])
    }
    return text
  },
}

const encoding = {
  noBytes,
  bad(path: string, value: unknown): never {
    throw new EncodeError(`${path} cannot be ${String(value)}`)
  },
  missing(path: string, version: number): never {
    throw new EncodeError(`${path} is not in version ${version}`)
  },
  int64(view: DataView, at: number, value: number, path: string): void {
    if (typeof value !== 'number') encoding.bad(path, value)
    setInt64(view, at, value)
  },
}
