import type {
  BatchesFiltered,
  CompactionJob,
  DamagedBatch,
  FilterBatchesJob,
  IndexKeysJob,
  KeysIndexed,
} from './contract.ts'
import { BatchFilter } from './filter-batches.ts'
import { KeyIndexer } from './index-keys.ts'

/** Does jobs of either kind where it is called. */
export class CompactionJobs {
  readonly #indexer = new KeyIndexer()
  readonly #filter = new BatchFilter()

  indexKeys(job: IndexKeysJob): KeysIndexed | DamagedBatch {
    return this.#indexer.run(job)
  }

  filterBatches(job: FilterBatchesJob): BatchesFiltered | DamagedBatch {
    return this.#filter.run(job)
  }

  run(job: CompactionJob): KeysIndexed | BatchesFiltered | DamagedBatch {
    return job.type === 'indexKeys' ? this.indexKeys(job) : this.filterBatches(job)
  }
}
