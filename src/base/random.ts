/** The only source of chance. The real one is the operating system's; the simulator's is seeded. */
export interface Random {
  /** A whole number in [0, bound). `bound` is at most 2^48. */
  below(bound: number): number
  /** `length` random bytes in a buffer of their own. */
  bytes(length: number): Buffer
}
