import { at, generation1, place, testMistakes, testSound, topicId } from './story.test.ts'

testSound({
  'a reader that passes over what was deleted meanwhile': story => {
    story.sent(['a', 'b', 'c'], 0)
    story.handedOut(0, ['a'])
    story.history.ok(story.history.begin('admin', 'deleteRecords', { ...place, offset: 2 }), { lowWatermark: 2 })
    story.handedOut(2, ['c'], { after: 1 })
    story.holds(['c'], { logStartOffset: 2 })
  },
  'a reader that goes back where the power took what it had read': story => {
    story.flush = 'async'
    const since = story.history.length
    story.sent(['a', 'b'], 0)
    story.handedOut(0, ['a', 'b'])
    story.cut(1)
    story.sent(['c'], 1)
    story.handedOut(1, ['c'], { after: 2, since })
    story.holds(['a', 'c'])
  },
  'a member that begins where its group had committed, or further on': story => {
    story.sent(['a', 'b', 'c'], 0)
    story.committed(1, 'first')
    story.handedOut(1, ['b'], { beginsFor: 'g', commitsFor: 'g' })
    story.handedOut(2, ['c'], { beginsFor: 'g' })
    story.holds(['a', 'b', 'c'])
  },
  'a member that begins behind what was deleted': story => {
    story.sent(['a', 'b', 'c'], 0)
    story.history.ok(story.history.begin('admin', 'deleteRecords', { ...place, offset: 2 }), { lowWatermark: 2 })
    story.handedOut(2, ['c'], { beginsFor: 'g' })
    story.holds(['c'], { logStartOffset: 2 })
  },
  'a member that begins where a commit that nobody heard of may have set its group back': story => {
    story.sent(['a', 'b', 'c'], 0)
    story.history.info(story.commit(1, 'late'), 'no answer in time')
    story.committed(2, 'first')
    story.handedOut(1, ['b'], { beginsFor: 'g' })
    story.holds(['a', 'b', 'c'])
  },
  'a member that begins a topic anew, for which another committed what it had read of the one before': story => {
    story.sent(['a', 'b'], 0)
    const since = story.history.length
    story.history.ok(story.history.begin('admin', 'deleteTopic', { topic: 'orders', topicId }), {})
    const target = { ...place, topicId: 'topic-of-the-next-run!' }
    story.created('orders', target.topicId)
    const commit = { ...generation1, ...place, topicId: undefined, offset: 2, token: '', since }
    story.history.ok(story.history.begin('two', 'commit', commit), {})
    story.sent(['c'], 0, target)
    story.handedOut(0, ['c'], { beginsFor: 'g' })
    story.holds(['c'], { target })
  },
})

testMistakes([
  [
    'I40',
    'a read leaves out an offset',
    story => {
      story.sent(['a', 'b', 'c'], 0)
      story.readRecords(0, [at(0, 'a'), at(2, 'c')])
      story.holds(['a', 'b', 'c'])
    },
  ],
  [
    'I40',
    'a read begins elsewhere',
    story => {
      story.sent(['a', 'b'], 0)
      story.readRecords(0, [at(1, 'b')])
      story.holds(['a', 'b'])
    },
  ],
  [
    'I40',
    'a reader is not given a record',
    story => {
      story.sent(['a', 'b', 'c'], 0)
      story.handedOut(0, ['a'])
      story.handedOut(2, ['c'], { after: 1 })
      story.holds(['a', 'b', 'c'])
    },
  ],
  [
    'I40',
    'a reader goes back',
    story => {
      story.sent(['a', 'b'], 0)
      story.handedOut(0, ['a', 'b'])
      story.handedOut(1, ['b'], { after: 2 })
      story.holds(['a', 'b'])
    },
  ],
  [
    'I40',
    'a member begins beyond what its group had committed',
    story => {
      story.sent(['a', 'b', 'c'], 0)
      story.handedOut(0, ['a', 'b'], { beginsFor: 'g' })
      story.committed(1, 'first')
      story.handedOut(2, ['c'], { beginsFor: 'g' })
      story.holds(['a', 'b', 'c'])
    },
  ],
  [
    'I40',
    'a member of a group that has committed nothing begins behind the start',
    story => {
      story.sent(['a', 'b'], 0)
      story.handedOut(1, ['b'], { beginsFor: 'g' })
      story.holds(['a', 'b'])
    },
  ],
  [
    'I41',
    'a member begins before what its group had committed',
    story => {
      story.sent(['a', 'b'], 0)
      story.committed(1, 'first')
      story.handedOut(0, ['a'], { beginsFor: 'g' })
      story.holds(['a', 'b'])
    },
  ],
  [
    'I41',
    'a member begins where its group was before the last commit',
    story => {
      story.sent(['a', 'b', 'c'], 0)
      story.committed(1, 'first')
      story.committed(2, 'second')
      story.handedOut(1, ['b'], { beginsFor: 'g' })
      story.holds(['a', 'b', 'c'])
    },
  ],
])
