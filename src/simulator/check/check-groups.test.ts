import { generation1, otherId, testMistakes, testSound, topicId } from './story.test.ts'

testSound({
  'members that share, commit, and go on to the next generation': story => {
    story.joined('one', 1)
    story.joined('two', 1)
    story.synced(generation1, ['orders-0'])
    story.synced({ ...generation1, member: 'two' }, ['orders-1'])
    story.committed(5, 'first')
    story.joined('two', 2)
    story.synced({ group: 'g', member: 'two', generation: 2 }, ['orders-0', 'orders-1'])
    story.foundCommitted(5, 'first')
  },
  'a static member that comes back to its partitions': story => {
    story.joined('one', 2, 'instance')
    story.synced({ ...generation1, generation: 2 }, ['orders-0'])
    story.joined('one-again', 2, 'instance')
    story.synced({ group: 'g', member: 'one-again', generation: 2 }, ['orders-0'])
  },
  'first generations of a group that had been forgotten meanwhile': story => {
    story.joined('one', 1)
    story.synced(generation1, ['orders-0'])
    story.joined('two', 2)
    story.history.mark('numberedAnew', { group: 'g' })
    story.joined('three', 1)
    story.synced({ group: 'g', member: 'three', generation: 1 }, ['orders-0'])
  },
  'a generation that its coordinator has forgotten with the one before it': story => {
    story.joined('one', 1)
    story.joined('two', 2)
    story.history.mark('numberedAnew', { group: undefined })
    story.synced(generation1, ['orders-0'])
  },
  'a commit that may have come after another': story => {
    const late = story.commit(5, 'late')
    story.committed(6, 'first')
    story.foundCommitted(5, 'late')
    story.history.ok(late, {})
  },
  'a commit that goes with its topic while somebody asks for it': story => {
    story.committed(5, 'first')
    story.history.begin('admin', 'deleteTopic', { topic: 'orders', topicId })
    story.foundCommitted(-1, '')
  },
  'commits that the power took where nothing was promised': story => {
    story.flush = 'async'
    story.committed(5, 'first')
    story.history.mark('cut', { topic: '__consumer_offsets', topicId: otherId, partition: 0, from: 0 })
    story.foundCommitted(-1, '')
  },
})

testMistakes([
  [
    'I36',
    'a partition has two owners',
    story => {
      story.joined('one', 1)
      story.joined('two', 1)
      story.synced(generation1, ['orders-0'])
      story.synced({ ...generation1, member: 'two' }, ['orders-0'])
    },
  ],
  [
    'I36',
    'a partition has two owners in the first generation, and another group was numbered anew',
    story => {
      story.joined('one', 1)
      story.synced(generation1, ['orders-0'])
      story.history.mark('numberedAnew', { group: 'another' })
      story.joined('two', 1)
      story.synced({ ...generation1, member: 'two' }, ['orders-0'])
    },
  ],
  [
    'I37',
    'a heartbeat of a generation that is over is taken',
    story => {
      story.joined('one', 1)
      story.joined('two', 2)
      story.history.ok(story.history.begin('one', 'heartbeat', generation1), {})
    },
  ],
  [
    'I37',
    'a share is given in a generation that is over',
    story => {
      story.joined('one', 1)
      story.joined('two', 2)
      story.synced(generation1, ['orders-0'])
    },
  ],
  [
    'I37',
    'a commit of a generation that is over is taken',
    story => {
      story.joined('one', 1)
      story.joined('two', 2)
      story.committed(5, 'stale')
    },
  ],
  [
    'I37',
    'a commit that was refused is there',
    story => {
      story.history.fail(story.commit(5, 'refused'), 'ILLEGAL_GENERATION')
      story.foundCommitted(5, 'refused')
    },
  ],
  [
    'I38',
    'a commit is lost',
    story => {
      story.committed(5, 'first')
      story.foundCommitted(-1, '')
    },
  ],
  [
    'I38',
    'a power cut took a commit that was promised',
    story => {
      story.committed(5, 'first')
      story.history.mark('cut', { topic: '__consumer_offsets', topicId: otherId, partition: 0, from: 0 })
      story.foundCommitted(-1, '')
    },
  ],
  [
    'I38',
    'an earlier commit is back',
    story => {
      story.committed(5, 'first')
      story.committed(6, 'second')
      story.foundCommitted(5, 'first')
    },
  ],
  [
    'I38',
    'a committed offset is another',
    story => {
      story.committed(5, 'first')
      story.foundCommitted(4, 'first')
    },
  ],
  ['I38', 'nobody made the commit', story => story.foundCommitted(5, 'unheard of')],
])
