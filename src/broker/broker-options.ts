import type { LoadedConfig } from '../config/load-config.ts'
import type { Io } from '../io/io.ts'

export interface BrokerOptions {
  readonly io: Io
  readonly loaded: LoadedConfig
  /** What an advertised listener without a host is advertised as. */
  readonly hostName: string
  /** Empty and absent log directories are formatted at once: the development profile. */
  readonly formatsEmptyDirectories: boolean
  /**
   * Opens the admin port, unless it is open: when the directories are this node's, and before they are formatted. Rejects
   * with `StartError`.
   */
  readonly openAdmin?: () => Promise<void>
  /** Names this run of the machine, if that is known: memory that the kernel kept is still there. */
  readonly bootId?: string
  /** Bytes written or read lately that the kernel is taken to hold in memory; see `Traffic`. */
  readonly warmBytes?: number
  /** Room that is set aside in the metadata directory, so that topics can be deleted when the disk is full. */
  readonly reserveBytes?: number
  /** Memory that was given back is overwritten, so that a use after that shows. For tests. */
  readonly poisonsMemory?: boolean
  /** The broker has stopped itself: an invariant is broken, or its metadata directory has failed. */
  readonly failed: (reason: Error) => void
}

/** A listener as it is bound and advertised. */
export interface BoundListener {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly advertisedHost: string
  readonly advertisedPort: number
}
