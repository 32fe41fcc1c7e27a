import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { endpointsOf, Scene } from './simulation/scene.ts'

/*
 * Whole stories of the quorum as text, to be read: `a -> b` is a message that arrives, `-x` one that is lost, an indented
 * line an effect of the node it begins with. `node --test --test-update-snapshots` writes them anew.
 */
const isUpdate = process.execArgv.includes('--test-update-snapshots')

function transcript(name: string, play: () => Scene): void {
  test(`transcript ${name}`, () => {
    const path = new URL(`transcripts/${name}.txt`, import.meta.url)
    const text = `${play().lines.join('\n')}\n`
    if (isUpdate) writeFileSync(path, text)
    assert.equal(text, readFileSync(path, 'utf8'))
  })
}

/** Node 1 leads, all have what it has. */
function electedScene(voters: number, observers = 0): Scene {
  const scene = new Scene({ voters, observers })
  scene.start()
  scene.elect(1)
  scene.lines.length = 0
  return scene
}

/** Both followers are answered, this one 300 ms before the other. */
function stagger(scene: Scene, first: number): void {
  scene.advance(500)
  scene.deliver(({ from, to }) => from === first || to === first)
  scene.advance(300)
  scene.deliver()
}

function inspectAll(scene: Scene): void {
  for (const { quorum } of scene.players) if (quorum !== undefined) scene.say(quorum.inspect())
}

transcript('standalone', () => {
  const scene = new Scene({ voters: 1 })
  scene.say('# A quorum of one elects itself at once and commits what it has flushed.')
  scene.start()
  scene.player(1).append(3)
  scene.say('# Having led, it starts resigned and leads again in a later epoch.')
  scene.player(1).crash()
  scene.start()
  inspectAll(scene)
  return scene
})

transcript('first-election', () => {
  const scene = new Scene({ voters: 3 })
  scene.start()
  scene.drop()
  scene.say('# Node 1 loses patience first. It asks around before it starts an epoch.')
  scene.advance(1000)
  scene.deliver()
  scene.say('# A record is committed once a majority has flushed it.')
  scene.player(1).append(1)
  scene.deliver()
  inspectAll(scene)
  return scene
})

transcript('failover', () => {
  const scene = electedScene(3)
  stagger(scene, 3)
  scene.say('# The leader dies. Node 3 misses it first; node 2, which was served later, does not support it.')
  scene.player(1).crash()
  scene.drop()
  scene.advance(1700)
  scene.deliver()
  scene.say('# Once node 2 misses it too, node 3 has a majority.')
  scene.advance(300)
  scene.deliver()
  scene.say('# The old leader comes back as resigned: too late to tell anybody, and it follows.')
  scene.player(1).start()
  scene.deliver()
  inspectAll(scene)
  return scene
})

transcript('diverging-logs', () => {
  const scene = electedScene(3)
  scene.say('# Node 1 appends two batches that reach nobody. Node 3 was served last.')
  stagger(scene, 2)
  scene.player(1).append(2)
  scene.player(1).append(1)
  const isCutOff = ({ from, to }: { from: number; to: number }) => from === 1 || to === 1
  scene.drop(isCutOff)
  scene.say('# The others elect node 3: node 2, first to miss the leader, had no support yet.')
  scene.advance(1700)
  scene.drop(isCutOff)
  scene.deliver(message => !isCutOff(message))
  scene.advance(300)
  scene.drop(isCutOff)
  scene.deliver(message => !isCutOff(message))
  scene.drop(isCutOff)
  scene.say('# Node 1 hears of it, cuts what the new leader does not have, and follows.')
  scene.advance(1000)
  scene.deliver()
  inspectAll(scene)
  return scene
})

transcript('shutdown', () => {
  const scene = electedScene(3)
  scene.say('# A leader that leaves names its successors, the longest log first; the first campaigns at once.')
  scene.player(1).handle({ type: 'shutdown' })
  scene.deliver()
  inspectAll(scene)
  return scene
})

transcript('voter-changes', () => {
  const scene = electedScene(3, 1)
  const keyOf = (id: number) => ({ clusterId: 'cluster', voterId: id, voterDirectoryId: scene.player(id).directoryId })
  const add = { ...keyOf(4), timeoutMs: 1000, listeners: endpointsOf(4), ackWhenCommitted: true }
  scene.say('# Node 4 has not fetched yet: a voter that lags would hold up every commit.')
  scene.player(1).ask({ api: 'addRaftVoter', request: add })
  scene.deliver(({ text }) => text === 'api versions')
  scene.advance(100)
  scene.deliver()
  scene.say('# It has fetched all there is: it becomes a voter, in force as soon as appended.')
  scene.player(1).ask({ api: 'addRaftVoter', request: add })
  scene.deliver(({ text }) => text === 'api versions')
  scene.say('# A second change has to wait for the first to commit.')
  scene.player(1).ask({ api: 'removeRaftVoter', request: keyOf(2) })
  scene.deliver()
  scene.say('# The leader is taken out: it commits that without counting itself, and resigns.')
  scene.player(1).ask({ api: 'removeRaftVoter', request: keyOf(1) })
  scene.deliver()
  inspectAll(scene)
  return scene
})

transcript('snapshot', () => {
  const scene = new Scene({ voters: 3 })
  scene.start(1, 2)
  scene.elect(1)
  scene.player(1).append(4)
  scene.deliver()
  scene.player(1).takeSnapshot(Buffer.from('all that committed'))
  scene.lines.length = 0
  scene.say(
    '# Node 3 comes when the log starts at a snapshot: it fetches that, piece by piece, and goes on from there.',
  )
  scene.player(3).start()
  scene.deliver()
  inspectAll(scene)
  return scene
})
