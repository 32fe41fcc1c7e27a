/** Where the value of a setting comes from. Those that count first stand first. */
export type Origin =
  | { readonly type: 'override' }
  | { readonly type: 'environment'; readonly variable: string }
  | { readonly type: 'file'; readonly path: string; readonly line: number }
  | { readonly type: 'development' }
  | { readonly type: 'default' }

/** A value that ends the start. */
export interface ConfigProblem {
  readonly key: string
  readonly origin: Origin
  /** Undefined where nothing was given and something must be. */
  readonly given: string | undefined
  readonly allowed: string
}

/** One line for people. A secret is never given here. */
export function problemText({ key, origin, given, allowed }: ConfigProblem): string {
  const value = given === undefined ? 'not given' : `given "${given}"`
  return `${originText(origin)}${key}: ${value}, allowed: ${allowed}`
}

/** The place and what parts it from a name that follows. */
export function originText(origin: Origin): string {
  switch (origin.type) {
    case 'override':
      return '--override '
    case 'environment':
      return `environment ${origin.variable}: `
    case 'file':
      return `${origin.path}, line ${origin.line}: `
    case 'development':
    case 'default':
      return ''
  }
}
