import { test } from 'node:test'
import { fuzzSeeds, named } from '../../../test/end-to-end/fuzz-seeds.ts'
import { LogFuzzer } from './fuzzer-fixture.test.ts'

const cases = 80

test('whatever happens to a log, at whatever time: what is there is what was appended', async () => {
  for (const seed of fuzzSeeds(cases)) {
    const fuzzer = new LogFuzzer(seed)
    await named(`FUZZ_SEED=${seed}`, fuzzer.run()).catch(error => {
      throw new Error(`${error.message}\n${fuzzer.trace}`, { cause: error.cause })
    })
  }
})
