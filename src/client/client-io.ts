import type { Io } from '../io/io.ts'

/** What a client needs of the world: no disk. */
export type ClientIo = Pick<Io, 'clock' | 'random' | 'network' | 'compute' | 'log'>
