import { leaderEpochFileName } from '../core/log/file-names.ts'
import type { EpochStart, LeaderEpochs } from '../core/log/leader-epochs.ts'
import type { Disk } from '../io/disk.ts'
import { SharedTask } from './shared-task.ts'

/** The epochs of a log, for all but their `EpochFile`, which changes them. */
export type KnownEpochs = Pick<LeaderEpochs, 'entries' | 'latestEpoch' | 'epochAt' | 'endOffsetFor'>

/** What was last put under the file's name. */
interface Content {
  /** The newest epoch that it names. */
  readonly newest: EpochStart | undefined
  /** No power cut takes its bytes. */
  isSynced: boolean
}

/**
 * The leader epochs of one log and their file, `leader-epoch-checkpoint`. Nobody else changes the one or writes the other, and all
 * that is written is what holds at that moment.
 *
 * What is written is whole, and takes the file's name then: what a kill leaves is what was there before, or all of what is new. Two
 * occasions ask for it:
 *
 * - `save`, when it is to be durable: it is synced before it takes the name. One save at a time; one that something has changed
 *   meanwhile leaves the name alone and begins anew, so it never undoes what is newer.
 * - `replaceNow`, before something is appended that the file would contradict after a kill: within the turn. `sync` follows, before
 *   anything of the log counts as synced.
 */
export class EpochFile {
  readonly #disk: Disk
  readonly #home: { readonly path: string }
  readonly #epochs: LeaderEpochs
  /** How often they have changed. */
  #changes = 1
  /** By which change the file was what no crash takes. */
  #durableChanges = 0
  #content: Content
  readonly #saving = new SharedTask(() => this.#replace())

  /** `found`: what the file says, undefined where it is missing or damaged. `isSettled`: that is `epochs`, and durable. */
  constructor(
    disk: Disk,
    home: { readonly path: string },
    epochs: LeaderEpochs,
    { found, isSettled }: { readonly found: KnownEpochs | undefined; readonly isSettled: boolean },
  ) {
    this.#disk = disk
    this.#home = home
    this.#epochs = epochs
    // After a crash it may be known to the page cache only.
    this.#content = { newest: found?.entries.at(-1), isSynced: isSettled || found === undefined }
    if (isSettled) this.#durableChanges = this.#changes
  }

  get epochs(): KnownEpochs {
    return this.#epochs
  }

  /** See `LeaderEpochs`, as for all changes. */
  assign(epoch: EpochStart): boolean {
    return this.#noted(this.#epochs.assign(epoch))
  }

  truncateFromEnd(endOffset: number): boolean {
    return this.#noted(this.#epochs.truncateFromEnd(endOffset))
  }

  truncateFromStart(startOffset: number): boolean {
    return this.#noted(this.#epochs.truncateFromStart(startOffset))
  }

  dropNewerThan(leaderEpoch: number): boolean {
    return this.#noted(this.#epochs.dropNewerThan(leaderEpoch) !== undefined)
  }

  clear(): void {
    this.#epochs.clear()
    this.#changes++
  }

  #noted(isChanged: boolean): boolean {
    if (isChanged) this.#changes++
    return isChanged
  }

  /**
   * The file names an epoch that the log has lost, or never had, and that it would hold against batches of the log's newest epoch
   * from its end on: a recovery after a kill would cut them off.
   */
  contradicts(nextOffset: number): boolean {
    const { newest } = this.#content
    if (newest === undefined) return false
    if (newest.leaderEpoch > this.#epochs.latestEpoch) return true
    return newest.startOffset > nextOffset && !this.#has(newest)
  }

  #has({ leaderEpoch, startOffset }: EpochStart): boolean {
    return this.#epochs.entries.some(one => one.leaderEpoch === leaderEpoch && one.startOffset === startOffset)
  }

  /** Resolves when the file durably holds what holds now. Rejects with `DiskError`. */
  async save(): Promise<void> {
    while (this.#durableChanges !== this.#changes) await this.#saving.run()
  }

  async #replace(): Promise<void> {
    const changes = this.#changes
    const path = this.#path
    const temporary = `${path}.tmp`
    const newest = this.#epochs.entries.at(-1)
    this.#disk.writeSmallFile(temporary, this.#epochs.encode())
    await this.#disk.syncFile(temporary)
    // Once the log is deleted another may have its name, and a file in the making there.
    if (changes !== this.#changes || path !== this.#path) return
    this.#disk.rename(temporary, path)
    this.#content = { newest, isSynced: true }
    await this.#disk.syncDirectory(this.#home.path)
    this.#durableChanges = changes
  }

  /** The file holds what holds now, for a kill. The directory has to be synced for it, and `sync` be called before. Throws `DiskError`. */
  replaceNow(): void {
    // Not that of a save which may be under way.
    const temporary = `${this.#path}.now.tmp`
    this.#disk.writeSmallFile(temporary, this.#epochs.encode())
    this.#disk.rename(temporary, this.#path)
    this.#content = { newest: this.#epochs.entries.at(-1), isSynced: false }
  }

  /** Resolves when no power cut takes the bytes of what has the file's name now. Rejects with `DiskError`. */
  async sync(): Promise<void> {
    const content = this.#content
    if (content.isSynced) return
    await this.#disk.syncFile(this.#path)
    content.isSynced = true
  }

  get #path(): string {
    return `${this.#home.path}/${leaderEpochFileName}`
  }
}
