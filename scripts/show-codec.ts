/**
 * Prints the compiled codec of a message: `node scripts/show-codec.ts FetchResponse 17 [decode|encode]`.
 * The name of an API (`Fetch`) stands for its request and its response.
 */
import { apiMessages, otherMessages } from '../src/protocol/all-messages.ts'
import { decoderSource } from '../src/protocol/decoder-source.ts'
import { encoderSource } from '../src/protocol/encoder-source.ts'

const usage = 'usage: node scripts/show-codec.ts <message or API> <version> [decode|encode]'

function main(name: string | undefined, versionText: string | undefined, only: string | undefined): number {
  const all = [...apiMessages.flatMap(api => [api.request, api.response]), ...otherMessages]
  const messages = all.filter(({ name: its }) => [its, its.replace(/(Request|Response)$/, '')].includes(name ?? ''))
  const version = Number(versionText)
  if (messages.length === 0 || versionText === undefined) return complain(usage)
  for (const message of messages) {
    if (!(version >= message.minVersion && version <= message.maxVersion)) {
      return complain(`${message.name} has versions ${message.minVersion} to ${message.maxVersion}`)
    }
    if (only !== 'encode') console.log(indented(decoderSource(message, version)))
    if (only !== 'decode') console.log(indented(encoderSource(message, version)))
  }
  return 0
}

function complain(problem: string): number {
  console.error(problem)
  return 2
}

/** The compiler writes one statement a line; the depth follows from the braces that stay open. */
function indented(source: string): string {
  let depth = 0
  const lines = source.split('\n').map(line => {
    const text = line.trim()
    if (text.startsWith('}')) depth--
    const result = '  '.repeat(depth) + text
    const opened = text.split('{').length - text.split('}').length
    depth += text.startsWith('}') ? opened + 1 : opened
    return result
  })
  return `${lines.join('\n')}\n`
}

process.exitCode = main(process.argv[2], process.argv[3], process.argv[4])
