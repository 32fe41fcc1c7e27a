import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../base/error-code.ts'
import type { Now } from '../../base/time.ts'
import { BatchBuilder } from '../../records/builder.ts'
import { InMemoryLog } from './in-memory-log.ts'
import { type KeyValueCodec, recordBatchCodec, UnknownRecord } from './record-batch-codec.ts'
import { StateMachineRunner } from './runner.ts'
import type { CommandBase, Decision, StateMachine } from './state-machine.ts'

/** A machine that sums numbers, and does on demand whatever a decision can do. */
interface SumCommand extends CommandBase {
  readonly add?: readonly number[]
  readonly maySplit?: boolean
  readonly atOnce?: boolean
  readonly park?: boolean
  /** Answers the requests that are parked, too. */
  readonly unpark?: boolean
  readonly dueMs?: number
  readonly effect?: string
  readonly isTimeout?: boolean
}

type SumSoft = { readonly parked?: readonly number[]; readonly dueMs?: number | undefined }

class SumMachine implements StateMachine<SumCommand, number, SumSoft, string, string, string> {
  sum = 0
  pending = new Map<number, number>()
  parked: readonly number[] = []
  dueMs: number | undefined
  view = ''
  lastOffset = -1

  decide(command: SumCommand): Decision<number, SumSoft, string, string> {
    const records = command.isTimeout ? [1000] : (command.add ?? [])
    const answer = `sum ${records.reduce((sum, value) => sum + value, this.sum)}`
    const { requestId } = command
    const own = requestId === undefined || command.park ? [] : [{ requestId, reply: answer }]
    const parked = command.unpark ? this.parked.map(id => ({ requestId: id, reply: answer })) : []
    const soft: SumSoft[] = []
    if (command.park && requestId !== undefined) soft.push({ parked: [...this.parked, requestId] })
    if (command.unpark) soft.push({ parked: [] })
    if (command.dueMs !== undefined || command.isTimeout) soft.push({ dueMs: command.dueMs })
    return {
      records,
      replies: [...own, ...parked],
      soft,
      effects: command.effect === undefined ? [] : [command.effect],
      answersAtOnce: command.atOnce,
      maySplit: command.maySplit,
    }
  }

  apply(record: number, at: { offset: number; producerId: number }): void {
    assert.ok(at.offset > this.lastOffset)
    this.lastOffset = at.offset
    if (at.producerId === -1) this.sum += record
    else this.pending.set(at.producerId, (this.pending.get(at.producerId) ?? 0) + record)
  }

  applyMarker({ producerId, committed }: { producerId: number; committed: boolean }): void {
    if (committed) this.sum += this.pending.get(producerId) ?? 0
    this.pending.delete(producerId)
  }

  applySoft(change: SumSoft): void {
    if (change.parked !== undefined) this.parked = change.parked
    if ('dueMs' in change) this.dueMs = change.dueMs
  }

  loaded(_now: Now, view: string): void {
    this.view = view
  }

  nextDeadlineMs(): number | undefined {
    return this.dueMs
  }

  inspect() {
    return { durable: this.sum, soft: this.parked }
  }
}

const numbers: KeyValueCodec<number> = {
  encode: value => ({ key: Buffer.from('n'), value: Buffer.from(String(value)) }),
  decode: (key, value) =>
    key?.toString() === 'n' ? Number(value?.toString()) : new UnknownRecord(`key ${key?.toString()}`),
}

function setUp({ maxWaitingAnswers = 100 } = {}) {
  const log = new InMemoryLog()
  const said: string[] = []
  const machines: SumMachine[] = []
  const at = (monotonicMs: number): Now => ({ monotonicMs, wallMs: 1_700_000_000_000 })
  const hooks = { onAnswer: (_requestId: number) => {} }
  const runner = new StateMachineRunner<SumCommand, number, SumSoft, string, string, string>({
    createMachine: () => {
      machines.push(new SumMachine())
      return machines.at(-1)!
    },
    codec: recordBatchCodec(numbers),
    log,
    timeoutCommand: { isTimeout: true },
    failureReply: (_command, errorCode) => `error ${errorCode}`,
    answer: (requestId, reply) => {
      said.push(`${requestId}: ${reply}`)
      hooks.onAnswer(requestId)
    },
    carryOut: effect => said.push(`effect ${effect}`),
    reload: () => said.push('reload'),
    unknownRecordType: type => said.push(`unknown ${type}`),
    answerTimeoutMs: 5000,
    maxWaitingAnswers,
  })
  const load = () => {
    runner.startLoading()
    for (const batch of log.batches) runner.replayBatch(batch)
    runner.loaded(at(0), 'view')
  }
  load()
  const commit = (offset?: number) => {
    log.commit(offset)
    runner.committed()
  }
  return { log, said, machines, at, runner, load, commit, hooks }
}

test('a command is answered, and its effects are carried out, when its records are committed', () => {
  const { runner, said, at, commit, log } = setUp()
  runner.submit({ requestId: 1, add: [1, 2], effect: 'x' }, at(0))
  assert.deepEqual(said, [])
  assert.equal(runner.inspect()?.durable, 3)
  assert.equal(log.batches.length, 1, 'one decision is one batch')
  commit()
  assert.deepEqual(said, ['1: sum 3', 'effect x'])
})

test('a read waits for the tail that it saw, and no longer', () => {
  const { runner, said, at, commit } = setUp()
  runner.submit({ requestId: 1 }, at(0))
  assert.deepEqual(said, ['1: sum 0'])
  runner.submit({ requestId: 2, add: [5] }, at(0))
  runner.submit({ requestId: 3 }, at(0))
  runner.submit({ requestId: 4, add: [6] }, at(0))
  commit(1)
  assert.deepEqual(said.slice(1), ['2: sum 5', '3: sum 5'])
  commit()
  assert.equal(said.at(-1), '4: sum 11')
})

test('what depends on nothing uncommitted is answered at once', () => {
  const { runner, said, at } = setUp()
  runner.submit({ requestId: 1, add: [5] }, at(0))
  runner.submit({ requestId: 2, atOnce: true }, at(0))
  assert.deepEqual(said, ['2: sum 5'])
})

test('a refused reservation changes nothing and fails only its own command', () => {
  const { runner, said, at, log, commit } = setUp()
  runner.submit({ requestId: 1, add: [1] }, at(0))
  log.refusal = ErrorCode.notEnoughReplicas
  const before = runner.inspect()
  runner.submit({ requestId: 2, add: [2], dueMs: 50, effect: 'never' }, at(0))
  assert.deepEqual(runner.inspect(), before)
  assert.deepEqual(said, ['2: error 19'])
  assert.equal(runner.nextDeadlineMs(), 5000, 'only the first answer has a deadline')
  log.refusal = ErrorCode.none
  commit()
  runner.submit({ requestId: 3, add: [4] }, at(0))
  commit()
  assert.deepEqual(said, ['2: error 19', '1: sum 1', '3: sum 5'])
})

test('requests that the machine keeps waiting stay when the decision that would answer them is refused', () => {
  const { runner, said, at, log, commit } = setUp()
  runner.submit({ requestId: 1, park: true }, at(0))
  log.refusal = ErrorCode.notEnoughReplicas
  runner.submit({ requestId: 2, add: [2], unpark: true }, at(0))
  assert.deepEqual(said, ['2: error 19'])
  log.refusal = ErrorCode.none
  runner.submit({ requestId: 3, add: [3], unpark: true }, at(0))
  commit()
  assert.deepEqual(said.slice(1), ['3: sum 3', '1: sum 3'])
  assert.equal(runner.openRequests, 0)
})

test('an answer that waits too long is COORDINATOR_NOT_AVAILABLE, and is not given again', () => {
  const { runner, said, at, commit } = setUp()
  runner.submit({ requestId: 1, add: [1], effect: 'still' }, at(0))
  runner.submit({ requestId: 2, add: [1] }, at(0), 100)
  assert.equal(runner.nextDeadlineMs(), 100)
  runner.timeout(at(99))
  assert.deepEqual(said, [])
  runner.timeout(at(100))
  assert.deepEqual(said, ['2: error 15'])
  assert.equal(runner.nextDeadlineMs(), 5000)
  runner.timeout(at(5000))
  commit()
  assert.deepEqual(said, ['2: error 15', '1: error 15', 'effect still'])
  assert.equal(runner.inspect()?.durable, 2)
})

test('above the cap of waiting answers a command is refused before it changes anything', () => {
  const { runner, said, at, commit } = setUp({ maxWaitingAnswers: 2 })
  for (const requestId of [1, 2, 3]) runner.submit({ requestId, add: [1] }, at(0))
  assert.deepEqual(said, ['3: error 15'])
  assert.equal(runner.inspect()?.durable, 2)
  runner.submit({ requestId: 4, atOnce: true }, at(0))
  assert.equal(said.at(-1), '4: sum 2', 'what does not wait is not refused')
  commit()
  runner.submit({ requestId: 5, add: [1] }, at(0))
  commit()
  assert.equal(said.at(-1), '5: sum 3')
})

test('a failed append unloads once, answers everyone who waits, and asks for a reload', () => {
  const { runner, said, at, log, load, commit, machines } = setUp()
  runner.submit({ requestId: 1, add: [1] }, at(0))
  commit()
  runner.submit({ requestId: 2, park: true }, at(0))
  runner.submit({ requestId: 3, add: [2], effect: 'never' }, at(0))
  log.failUncommitted()
  runner.appendFailed()
  runner.appendFailed()
  assert.deepEqual(said, ['1: sum 1', '2: error 16', '3: error 16', 'reload'])
  assert.equal(runner.state, 'unloaded')
  assert.equal(runner.nextDeadlineMs(), undefined)
  load()
  assert.equal(machines.length, 2)
  runner.submit({ requestId: 4 }, at(0))
  assert.equal(said.at(-1), '4: sum 1')
})

test('losing leadership answers everyone who waits and drops the state', () => {
  const { runner, said, at } = setUp()
  runner.submit({ requestId: 1, add: [1] }, at(0))
  runner.submit({ requestId: 2, park: true }, at(0))
  runner.unload()
  runner.unload()
  assert.deepEqual(said, ['1: error 16', '2: error 16'])
  runner.submit({ requestId: 3 }, at(0))
  assert.equal(said.at(-1), '3: error 16')
  assert.equal(runner.submit({ add: [1] }, at(0)), ErrorCode.notCoordinator)
  runner.startLoading()
  runner.submit({ requestId: 4 }, at(0))
  assert.equal(said.at(-1), '4: error 14')
})

test('a load that is given up begins anew', () => {
  const { runner, said, at, log, load } = setUp()
  runner.submit({ requestId: 1, add: [7] }, at(0))
  runner.unload()
  runner.startLoading()
  runner.replayBatch(log.batches[0])
  runner.appendFailed()
  assert.equal(said.at(-1), 'reload')
  load()
  assert.equal(runner.inspect()?.durable, 7)
})

test('what the machine has after a load is what it had before', () => {
  const { runner, at, load, commit } = setUp()
  for (let requestId = 1; requestId <= 20; requestId++) runner.submit({ requestId, add: [requestId, 1] }, at(0))
  commit()
  const before = runner.inspect()?.durable
  runner.unload()
  load()
  assert.deepEqual(runner.inspect()?.durable, before)
})

test('a deadline of the machine is decided when it comes, and not before', () => {
  const { runner, at } = setUp()
  runner.submit({ dueMs: 70 }, at(0))
  assert.equal(runner.nextDeadlineMs(), 70)
  runner.timeout(at(69))
  assert.equal(runner.inspect()?.durable, 0)
  runner.timeout(at(70))
  assert.equal(runner.inspect()?.durable, 1000)
  assert.equal(runner.nextDeadlineMs(), undefined)
})

test('a refused timeout is tried again later, not at once', () => {
  const { runner, at, log } = setUp()
  runner.submit({ dueMs: 70 }, at(0))
  log.refusal = ErrorCode.kafkaStorageError
  runner.timeout(at(70))
  const againMs = runner.nextDeadlineMs()
  assert.ok(againMs !== undefined && againMs > 70)
  runner.timeout(at(71))
  assert.equal(runner.inspect()?.durable, 0)
  log.refusal = ErrorCode.none
  runner.timeout(at(againMs))
  assert.equal(runner.inspect()?.durable, 1000)
})

test('a decision that is too large is refused as a whole, or spread over batches if it may be', () => {
  const { runner, said, at, log, commit } = setUp()
  log.maxBatchBytes = 120
  const add = Array.from({ length: 20 }, () => 1)
  runner.submit({ requestId: 1, add }, at(0))
  assert.deepEqual(said, ['1: error 18'])
  assert.equal(runner.inspect()?.durable, 0)
  runner.submit({ requestId: 2, add, maySplit: true }, at(0))
  assert.ok(log.batches.length > 1)
  assert.ok(log.batches.every(batch => batch.length <= 120))
  commit()
  assert.equal(said.at(-1), '2: sum 20')
})

test('an answer may submit the next command', () => {
  const { runner, said, at, hooks, commit } = setUp()
  hooks.onAnswer = requestId => {
    if (requestId < 4) runner.submit({ requestId: requestId + 1, add: [1] }, at(0))
  }
  runner.submit({ requestId: 1, add: [1] }, at(0))
  runner.submit({ requestId: 10, add: [1] }, at(0))
  for (let turn = 0; turn < 4; turn++) commit()
  assert.deepEqual(said, ['1: sum 1', '10: sum 2', '2: sum 3', '3: sum 4', '4: sum 5'])
})

test('a request is answered even if it is submitted by the answer that unloading gives', () => {
  const { runner, said, at, hooks } = setUp()
  hooks.onAnswer = requestId => {
    if (requestId === 1) runner.submit({ requestId: 2 }, at(0))
  }
  runner.submit({ requestId: 1, park: true }, at(0))
  runner.unload()
  assert.deepEqual(said, ['1: error 16', '2: error 16'])
})

test('replay keeps the records of a transaction apart until its marker', () => {
  const { runner, load, log } = setUp()
  runner.unload()
  log.appendForeign(transactional(7, 40))
  log.appendForeign(transactional(8, 50))
  log.appendForeign(marker(7, true))
  load()
  assert.equal(runner.inspect()?.durable, 40)
  runner.unload()
  log.appendForeign(marker(8, false))
  load()
  assert.equal(runner.inspect()?.durable, 40)
})

test('records of unknown types are said once and are no obstacle', () => {
  const { runner, said, load, log } = setUp()
  runner.unload()
  const builder = new BatchBuilder()
  builder.append(1n, Buffer.from('n'), Buffer.from('5'))
  for (const key of ['z', 'z', 'y']) builder.append(1n, Buffer.from(key), Buffer.from('?'))
  log.appendForeign(Buffer.from(builder.finish()))
  load()
  assert.equal(runner.inspect()?.durable, 5)
  assert.deepEqual(said, ['unknown key z', 'unknown key y'])
})

function transactional(producerId: number, value: number): Buffer {
  const builder = new BatchBuilder()
  builder.append(1n, Buffer.from('n'), Buffer.from(String(value)))
  return Buffer.from(builder.finish({ producerId, producerEpoch: 0, baseSequence: 0, isTransactional: true }))
}

function marker(producerId: number, committed: boolean): Buffer {
  const builder = new BatchBuilder()
  builder.append(1n, Buffer.from([0, 0, 0, committed ? 1 : 0]), Buffer.from('000000000000', 'hex'))
  return Buffer.from(builder.finish({ producerId, producerEpoch: 0, isTransactional: true, isControl: true }))
}
