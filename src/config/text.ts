/** How Kafka reads and prints values: by the rules of Java's Integer, Long, Double and Properties. */

/** Decimal digits with an optional sign, blanks around them removed; undefined for anything else. */
export function parseInteger(text: string): bigint | undefined {
  const trimmed = text.trim()
  return /^[+-]?\d+$/.test(trimmed) ? BigInt(trimmed.replace('+', '')) : undefined
}

/** Any case, blanks around it removed. */
export function parseBoolean(text: string): boolean | undefined {
  const lower = text.trim().toLowerCase()
  return lower === 'true' ? true : lower === 'false' ? false : undefined
}

/** Java's decimal form, with its optional suffix; hexadecimal forms are not read. */
export function parseDouble(text: string): number | undefined {
  const trimmed = text.trim()
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[dDfF]?$/.test(trimmed)) return Number.parseFloat(trimmed)
  if (/^[+-]?NaN$/.test(trimmed)) return Number.NaN
  if (/^\+?Infinity$/.test(trimmed)) return Number.POSITIVE_INFINITY
  return trimmed === '-Infinity' ? Number.NEGATIVE_INFINITY : undefined
}

/** As Java prints it: at least one digit behind the point, and powers of ten outside of [0.001, 10 million). */
export function doubleText(value: number): string {
  const size = Math.abs(value)
  if (!Number.isFinite(value)) return String(value)
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  if (size >= 1e-3 && size < 1e7) return Number.isInteger(value) ? `${value}.0` : String(value)
  const [digits, exponent] = value.toExponential().split('e')
  return `${digits.includes('.') ? digits : `${digits}.0`}E${Number(exponent)}`
}

/** Elements between commas, blanks around them removed, each kept once where it is first named. Blank text has none. */
export function splitList(text: string): string[] {
  const trimmed = text.trim()
  return trimmed === '' ? [] : [...new Set(trimmed.split(/\s*,\s*/))]
}
