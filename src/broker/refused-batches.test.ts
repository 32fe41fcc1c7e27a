import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../base/error-code.ts'
import { onBrokerHost } from './fixture.test.ts'

test('a producer whose batches are refused again and again fills no log', () =>
  onBrokerHost({}, async host => {
    await host.start()
    await host.createTopic('small', 30, { 'max.message.bytes': '10' })
    for (let index = 0; index < 30; index++)
      assert.equal((await host.produce('small', index)).errorCode, ErrorCode.messageTooLarge)
    await host.world.sleep(2000)
    const lines = host.linesWith('refused')
    assert.match(lines[0]!, /a batch for small-0 was refused: /)
    assert.match(lines[1]!, /^batches for small were refused, MESSAGE_TOO_LARGE: 29 more within a second, from /)
    assert.equal(lines.length, 2)
    await host.close()
  }))
