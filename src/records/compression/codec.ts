/** Kafka's numbers, as in the lowest three bits of a batch's attributes. */
export const Codec = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const

/** Kafka's word for each codec, in the order of the numbers; `compression.type` uses them too. */
const names = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

export function codecName(codec: number): string {
  return names[codec] ?? `unknown (${codec})`
}

/** Undefined for a name that is none. `uncompressed` is how topic settings spell `none`. */
export function codecNamed(name: string): number | undefined {
  const codec = names.indexOf(name === 'uncompressed' ? 'none' : name)
  return codec < 0 ? undefined : codec
}
