import { parseArgs } from 'node:util'

export const help = `Runs the broker in a simulated world, with faults, and checks what it promises.

npm run simulate -- --seed N           one run; prints its hash. The same seed gives the same run, to the byte
npm run simulate -- --seed N --count M that seed and those after it
npm run simulate -- --for 10m          fresh seeds for that long (30s, 10m, 2h)
npm run simulate -- --ci               fixed seeds, and a few fresh ones whose finds are told but fail no build
npm run simulate -- --planted NAME     how long it takes to find a planted bug; all: a table of all of them

--json      one JSON object a line
--history   with --seed: all that clients did and saw, as JSON lines
--log       with --seed: the last log lines of all nodes
--minutes M with --planted: minutes of computing after which a hunt is given up (10)
--hunts K   with --planted: hunts for each bug; the median counts (1)`

export type Command =
  | { readonly type: 'help' }
  | {
      readonly type: 'seeds'
      readonly from: number
      readonly count: number
      readonly showsHistory: boolean
      readonly showsLog: boolean
      readonly isJson: boolean
    }
  | { readonly type: 'hunt'; readonly seconds: number; readonly isJson: boolean }
  | { readonly type: 'ci'; readonly isJson: boolean }
  | {
      readonly type: 'planted'
      readonly name: string
      readonly minutes: number
      readonly hunts: number
      readonly isJson: boolean
    }

/** What was asked for cannot be understood. */
export class CommandError extends Error {}

export function parseCommand(texts: readonly string[]): Command {
  const { values } = parse(texts)
  const isJson = values.json === true
  if (values.planted !== undefined) {
    const minutes = number('--minutes', values.minutes ?? '10')
    return { type: 'planted', name: values.planted, minutes, hunts: number('--hunts', values.hunts ?? '1'), isJson }
  }
  if (values.ci === true) return { type: 'ci', isJson }
  if (values.for !== undefined) return { type: 'hunt', seconds: seconds(values.for), isJson }
  if (values.seed === undefined) return { type: 'help' }
  return {
    type: 'seeds',
    from: number('--seed', values.seed),
    count: number('--count', values.count ?? '1'),
    showsHistory: values.history === true,
    showsLog: values.log === true,
    isJson,
  }
}

const options = {
  seed: { type: 'string' },
  count: { type: 'string' },
  for: { type: 'string' },
  ci: { type: 'boolean' },
  planted: { type: 'string' },
  minutes: { type: 'string' },
  hunts: { type: 'string' },
  json: { type: 'boolean' },
  history: { type: 'boolean' },
  log: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

function parse(texts: readonly string[]) {
  try {
    return parseArgs({ args: [...texts], options, strict: true })
  } catch (error) {
    throw new CommandError((error as Error).message)
  }
}

function number(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new CommandError(`${name} is a whole number, not ${text}`)
  return value
}

function seconds(text: string): number {
  const match = /^(\d+)([smh])$/.exec(text)
  if (match === null) throw new CommandError(`--for is a time like 30s, 10m or 2h, not ${text}`)
  return Number(match[1]) * { s: 1, m: 60, h: 3600 }[match[2] as 's' | 'm' | 'h']
}
