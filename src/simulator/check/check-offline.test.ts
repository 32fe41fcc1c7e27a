import { place, testMistakes, testSound } from './story.test.ts'

testSound({
  'a directory that is offline until the broker is started again, and its successor': story => {
    story.sent(['a'], 0)
    const underWay = story.send(['b'])
    story.history.mark('offline', { directory: '/disk', partitions: [place] })
    story.history.ok(underWay, { baseOffset: 1 })
    story.history.info(story.send(['c']), 'KAFKA_STORAGE_ERROR')
    story.sent(['x'], 0, { partition: 1 })
    const refused = story.send(['d'])
    story.history.mark('closing', { node: 'broker', life: 1 })
    story.history.info(refused, 'NOT_LEADER_OR_FOLLOWER')
    story.history.mark('ended', { node: 'broker', life: 1, how: 'kill' })
    story.read(0, ['a', 'b'])
    story.holds(['a', 'b'])
  },
})

testMistakes([
  [
    'I53',
    'a directory that is offline takes a record',
    story => {
      story.history.mark('offline', { directory: '/disk', partitions: [place] })
      story.sent(['a'], 0)
      story.holds(['a'])
    },
  ],
  [
    'I53',
    'a directory that is offline sends a client to another leader',
    story => {
      story.history.mark('offline', { directory: '/disk', partitions: [place] })
      story.history.info(story.send(['a']), 'NOT_LEADER_OR_FOLLOWER')
      story.holds([])
    },
  ],
  [
    'I53',
    'a directory that is offline sends a client to look for a newer epoch',
    story => {
      story.history.mark('offline', { directory: '/disk', partitions: [place] })
      const asked = story.history.begin('reader', 'epochEnd', { ...place, leaderEpoch: 1 })
      story.history.fail(asked, 'FENCED_LEADER_EPOCH')
      story.holds([])
    },
  ],
  [
    'I53',
    'a directory that is offline is read from',
    story => {
      story.sent(['a'], 0)
      story.history.mark('offline', { directory: '/disk', partitions: [place] })
      story.read(0, ['a'])
      story.holds(['a'])
    },
  ],
])
