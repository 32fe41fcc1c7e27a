import { fullRequests } from '../../end-to-end/full-requests.ts'
import { makeWorld, typicalRequests } from '../../end-to-end/typical-requests.ts'
import { createUsableTopic, type Side } from '../side.ts'
import type { Scenarios } from './scenario.ts'

/** Every API in every version, as clients ask. */
export const typicalScenarios: Scenarios = {
  'every API in every version': async (side: Side) => {
    const world = await makeWorld(side.client, side.port, {
      named: name => side.named(name),
      createTopic: createUsableTopic,
    })
    for (const { name, call, from, to, body } of [...typicalRequests, ...fullRequests]) {
      for (let version = from; version <= Math.min(to, call.request.key === 22 ? 5 : to); version++) {
        await side.ask(`${name} v${version}`, call, version, (await body(version, world)) as never)
      }
    }
  },
}
