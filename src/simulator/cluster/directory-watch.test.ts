import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DiskError } from '../../io/disk.ts'
import { Violations } from '../violations.ts'
import { DirectoryWatch } from './directory-watch.ts'

const path = '/disk/data-1'
const refusal = new DiskError('readOnly', 'append', `${path}/topic-0/00000000000000000000.log`)
const offline = `log directory ${path} is offline: ${refusal.message}. Mend the disk, and restart the broker.`

/** What is found wrong with what the body tells of one life of a broker. */
function problemsIn(body: (watch: DirectoryWatch) => void): string {
  const violations = new Violations()
  const watch = new DirectoryWatch([path, '/disk/data-10'], violations)
  watch.processBegins()
  body(watch)
  return violations.kept.map(({ invariant, text }) => `${invariant} ${text}`).join('\n')
}

function log(watch: DirectoryWatch, message: string): void {
  watch.logged({ timeMs: 0, node: 'broker', level: 'error', message, fields: {} })
}

function look(
  watch: DirectoryWatch,
  nowMs: number,
  { isOffline = false, isPaused = false, stalledUntilMs = 0 } = {},
): void {
  watch.look([{ path, isOffline }], { nowMs, isPaused, stalledUntilMs })
}

test('a directory that goes offline at once, and is told of once, is as it should be', () => {
  const problems = problemsIn(watch => {
    watch.failed(refusal, 0)
    log(watch, offline)
    watch.wentOffline(path)
    look(watch, 5000, { isOffline: true })
    log(watch, `the broker stops: the metadata directory ${path} has failed`)
    log(watch, `not all could be put in order: ${path} is offline. The next start looks for it, as after a kill.`)
    log(watch, 'log directory /disk/data-10 has no space left')
  })
  assert.equal(problems, '')
})

test('a directory that refuses changes and stays online is found', () => {
  const after = (nowMs: number, isPaused = false) =>
    problemsIn(watch => {
      watch.failed(refusal, 0)
      look(watch, nowMs, { isPaused })
    })
  assert.equal(after(900), '')
  assert.equal(after(5000, true), '', 'nothing is done while the process stands still')
  assert.match(after(1100), /I53 .*data-1 is not offline/)
})

test('what may be written again, and what was only read, is no reason to go offline', () => {
  const problems = problemsIn(watch => {
    watch.failed(new DiskError('noSpace', 'append', `${path}/log`), 0)
    watch.failed(new DiskError('io', 'read', `${path}/log`), 0)
    look(watch, 5000)
  })
  assert.equal(problems, '')
})

test('a directory that goes offline without a word is found', () => {
  assert.match(
    problemsIn(watch => watch.wentOffline(path)),
    /I53 .* no line says so/,
  )
})

test('a second line of the same directory is found, in the same life only', () => {
  const twice = (between: (watch: DirectoryWatch) => void) =>
    problemsIn(watch => {
      log(watch, offline)
      between(watch)
      log(watch, offline)
    })
  assert.match(
    twice(() => undefined),
    /I53 after it was said that .* one more line/,
  )
  assert.equal(
    twice(watch => watch.processBegins()),
    '',
  )
})

test('a broker goes on while its metadata and one directory are left', () => {
  const watch = new DirectoryWatch([path, '/disk/data-2'], new Violations())
  const states = (first: boolean, second: boolean) =>
    watch.mayGoOn([
      { path, isOffline: first },
      { path: '/disk/data-2', isOffline: second },
    ])
  assert.deepEqual([states(false, true), states(true, false), states(true, true)], [true, false, false])
})
