import Table from 'cli-table3'

/** Exit codes (docs/cli.md): 0 done, 1 failed, 2 called wrongly, 3 could not be checked. */
export const ExitCode = { ok: 0, failed: 1, usage: 2, notChecked: 3 } as const

/** A failure that is the whole story: its message goes to stderr, without a stack. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: number

  constructor(message: string, exitCode: number = ExitCode.failed) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Data goes to stdout: JSON when it is asked for, otherwise what `text` makes of it. */
export function print<T>(value: T, json: boolean | undefined, text: (value: T) => string): void {
  process.stdout.write(`${json ? JSON.stringify(value, replaceBigints) : text(value)}\n`)
}

/** What was done of several things; when it is nothing, the failure that follows says all, but for readers of JSON. */
export function printDone<T>(done: readonly T[], json: boolean | undefined, text: (one: T) => string): void {
  if (json || done.length > 0) print(done, json, all => all.map(text).join('\n'))
}

/** What was found of several things that were asked for; of nothing nothing is said, but to readers of JSON. */
export function printFound<T>(
  found: readonly T[],
  json: boolean | undefined,
  text: (found: readonly T[]) => string,
): void {
  if (json || found.length > 0) print(found, json, text)
}

/** One JSON object a line, for commands that go on. */
export function printLine(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, replaceBigints)}\n`)
}

function replaceBigints(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}

/** A name may have 32,767 characters: that many spaces beside every other would be more than fits in a text. */
const maxAlignedLength = 300

function unaligned(rows: readonly (readonly unknown[])[]): string {
  return rows.map(row => row.map(cell => cell ?? '-').join('  ')).join('\n')
}

/** A table without lines, as kubectl and rpk print: columns are cut apart by two spaces. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number | boolean | null)[])[],
): string {
  if (rows.some(row => row.some(cell => String(cell).length > maxAlignedLength))) return unaligned([head, ...rows])
  const plain = new Table({
    head: head.map(name => name.toUpperCase()),
    chars: {
      ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '' },
      ...{
        'bottom-right': '',
        left: '',
        'left-mid': '',
        mid: '',
        'mid-mid': '',
        right: '',
        'right-mid': '',
        middle: '  ',
      },
    },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  for (const row of rows) plain.push(row.map(cell => (cell === null ? '-' : String(cell))))
  return plain.toString().replaceAll(/ +$/gm, '')
}
