import { boolean, int, long, string } from './setting.ts'

/** What Kafka has no setting for. */
export const millraceSettings = {
  millraceFlush: string('millrace.flush', {
    default: 'async',
    oneOf: ['async', 'ack'],
    doc: 'With ack, a write is synced to disk before it is acknowledged or counts as replicated; with async, as Kafka does, later.',
  }),
  millraceSendfile: boolean('millrace.sendfile', {
    default: true,
    doc: 'Large answers go from the page cache to the socket without passing through this process, where the system can.',
  }),
  millraceAdminListener: string('millrace.admin.listener', {
    default: '127.0.0.1:9644',
    check: value => (parseAdminListener(value) === null ? 'Value must be HOST:PORT or empty' : undefined),
    allowed: 'HOST:PORT, or nothing for no admin port',
    doc: 'Where metrics and health checks are served by HTTP. Empty: nowhere.',
  }),
  millraceFrameTimeoutMs: int('millrace.frame.timeout.ms', {
    default: 30_000,
    min: 1,
    doc: 'A connection is closed when a request that has begun to arrive stops arriving for this long.',
  }),
  millraceSlowReaderTimeoutMs: int('millrace.slow.reader.timeout.ms', {
    default: 60_000,
    min: 1,
    doc: 'A connection is closed when its client has taken nothing of a waiting answer for this long.',
  }),
  millraceMaxUncompressedBatchBytes: int('millrace.max.uncompressed.batch.bytes', {
    default: 134_217_728,
    min: 1024,
    doc: 'A compressed batch that unpacks to more than this is refused with MESSAGE_TOO_LARGE.',
  }),
  millraceValidateCompressed: boolean('millrace.validate.compressed', {
    default: true,
    doc: 'Compressed batches are unpacked and each record checked when they arrive, as Kafka does.',
  }),
  millraceScrubBytesPerSecond: long('millrace.scrub.bytes.per.second', {
    default: 4_194_304,
    min: 0,
    doc: 'How fast stored batches are read again to check their sums; 0 is never.',
  }),
  millraceLogFormat: string('millrace.log.format', {
    default: 'text',
    oneOf: ['text', 'json'],
    doc: "The broker's own log lines, on stderr: text for people, or one JSON object a line for a log collector.",
  }),
  millraceLogLevel: string('millrace.log.level', {
    default: 'info',
    oneOf: ['debug', 'info', 'warn', 'error'],
    doc: "The broker's own log lines below this level are left out.",
  }),
}

/** Undefined for no admin port, null for a text that is neither. Port 0 is any free port. */
export function parseAdminListener(text: string): { readonly host: string; readonly port: number } | undefined | null {
  if (text === '') return undefined
  const match = /^(?:\[([0-9a-fA-F:.%]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text)
  if (!match || Number(match[3]) > 65_535) return null
  return { host: match[1] ?? match[2], port: Number(match[3]) }
}
