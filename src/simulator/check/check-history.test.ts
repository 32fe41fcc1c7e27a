import { at, otherId, place, producer, testMistakes, testSound, topicId } from './story.test.ts'

testSound({
  'records that are sent, read and there in the end': story => {
    story.sent(['a', 'b'], 0)
    story.read(0, ['a', 'b'], { highWatermark: 2 })
    story.holds(['a', 'b'])
  },
  'sends of unknown end, there or not': story => {
    story.sentPerhaps(['a'])
    story.sentPerhaps(['b'])
    story.send(['c'])
    story.holds(['b'])
  },
  'a repetition that is answered with the first offset': story => {
    story.sent(['a'], 0, { producer })
    story.sent(['b'], 1, { producer: { ...producer, sequence: 1 } })
    story.sent(['a'], 0, { producer, attempt: 2 })
    story.holds(['a', 'b'])
  },
  'a record that a plain producer tried again, there twice': story => {
    story.sentPerhaps(['a'])
    story.sent(['a'], 1, { attempt: 2 })
    story.holds(['a', 'a'])
  },
  'sends at the same time, in any order': story => {
    const [one, other] = [story.send(['a']), story.send(['b'])]
    story.history.ok(one, { baseOffset: 1 })
    story.history.ok(other, { baseOffset: 0 })
    story.holds(['b', 'a'])
  },
  'what a power cut took where nothing was promised': story => {
    story.flush = 'async'
    story.sent(['a', 'b'], 0)
    story.read(0, ['a', 'b'], { highWatermark: 2 })
    story.cut(1)
    story.sent(['c'], 1)
    story.read(0, ['a', 'c'], { highWatermark: 2 })
    story.holds(['a', 'c'])
  },
  'what acks=0 did not promise, gone with the power': story => {
    story.sent(['a'], 0, { acks: 0 })
    story.cut(0)
    story.holds([])
  },
  'damaged records that are missing': story => {
    story.sent(['a', 'b', 'c'], 0)
    story.history.mark('damaged', { ...place, from: 1, to: 2 })
    story.holds(['a', undefined, 'c'])
  },
  'a last stable offset that a power cut has set back': story => {
    story.flush = 'async'
    story.read(0, [], { highWatermark: 5 })
    story.cut(3)
    story.read(0, [], { highWatermark: 5, lastStableOffset: 3 })
  },
  'a topic that was made anew under its name': story => {
    story.sent(['a'], 0)
    story.history.ok(story.history.begin('admin', 'deleteTopic', { topic: 'orders', topicId }), {})
    const target = { ...place, topicId: 'topic-of-the-next-run!' }
    story.created('orders', target.topicId)
    story.sent(['b'], 0, target)
    story.holds(['b'], { target })
  },
})

testMistakes([
  [
    'I1',
    'an acknowledged record is not there',
    story => {
      story.sent(['a'], 0)
      story.holds([])
    },
  ],
  [
    'I1',
    'a power cut took what was promised',
    story => {
      story.sent(['a'], 0)
      story.cut(0)
      story.holds([])
    },
  ],
  [
    'I1',
    'a record is gone, and the only power cut was before it',
    story => {
      story.flush = 'async'
      story.cut(0)
      story.sent(['a'], 0)
      story.holds([])
    },
  ],
  [
    'I1',
    'a record is gone that lies below what the power cut took',
    story => {
      story.flush = 'async'
      story.sent(['a', 'b'], 0)
      story.cut(1)
      story.holds([])
    },
  ],
  [
    'I1 I4',
    'an acknowledged record is at another offset',
    story => {
      story.sent(['a'], 0)
      story.holds([undefined, 'a'])
    },
  ],
  [
    'I1',
    'another record is in the place of an acknowledged one',
    story => {
      story.sent(['a'], 0)
      story.sentPerhaps(['b'])
      story.holds(['b'])
    },
  ],
  [
    'I2',
    'a record that was read is not there',
    story => {
      story.sentPerhaps(['a'])
      story.read(0, ['a'])
      story.holds([])
    },
  ],
  [
    'I4',
    'two readers saw different records at one offset',
    story => {
      story.sentPerhaps(['a'])
      story.sentPerhaps(['b'])
      story.read(0, ['a'])
      story.read(0, ['b'])
    },
  ],
  [
    'I4',
    'nothing is at an offset',
    story => {
      story.sentPerhaps(['a'])
      story.sentPerhaps(['b'])
      story.holds(['a', undefined, 'b'])
    },
  ],
  ['I6', 'nobody sent the record', story => story.read(0, ['a'])],
  [
    'I6',
    'a record has another content than was sent',
    story => {
      story.sent(['a'], 0)
      story.readRecords(0, [{ ...at(0, 'a'), digest: 'another' }])
      story.holds(['a'])
    },
  ],
  [
    'I6',
    'a record has another time than was sent',
    story => {
      story.sent(['a'], 0)
      story.readRecords(0, [{ ...at(0, 'a'), timestamp: '2' }])
      story.holds(['a'])
    },
  ],
  [
    'I7',
    'a record lies before another that was acknowledged before it was sent',
    story => {
      story.sent(['a'], 1)
      story.sent(['b'], 0)
      story.holds(['b', 'a'])
    },
  ],
  [
    'I8',
    'a record was sent to another topic',
    story => {
      story.sentPerhaps(['a'], { topic: 'others', topicId: otherId })
      story.read(0, ['a'])
    },
  ],
  [
    'I8',
    'a record was sent to the topic that had the name before',
    story => {
      story.sent(['a'], 0, { topicId: 'topic-of-the-past-run!' })
      story.read(0, ['a'])
    },
  ],
  [
    'I9',
    'a record is read at the high watermark',
    story => {
      story.sentPerhaps(['a'])
      story.read(0, ['a'], { highWatermark: 0 })
      story.holds(['a'])
    },
  ],
  [
    'I9',
    'the high watermark goes back',
    story => {
      story.read(0, [], { highWatermark: 5 })
      story.read(0, [], { highWatermark: 4 })
    },
  ],
  [
    'I9',
    'the last stable offset goes back',
    story => {
      story.read(0, [], { lastStableOffset: 5 })
      story.read(0, [], { lastStableOffset: 4 })
    },
  ],
  [
    'I9',
    'a log ends below what was acknowledged before',
    story => {
      story.sent(['a', 'b'], 0)
      story.listed(-1, 1)
      story.holds(['a', 'b'])
    },
  ],
  [
    'I9',
    'the log start goes back',
    story => {
      story.listed(-2, 5)
      story.read(5, [], { logStartOffset: 4 })
    },
  ],
  [
    'I23',
    'a producer id is given twice',
    story => {
      for (const process of ['one', 'two'])
        story.history.ok(story.history.begin(process, 'initProducer', { id: -1, epoch: -1 }), { id: 7, epoch: 0 })
    },
  ],
  ['I23', 'a topic id is given twice', story => story.created('more', topicId)],
  [
    'I24',
    'a record of an idempotent producer is there twice',
    story => {
      story.sentPerhaps(['a'], { producer })
      story.sent(['a'], 0, { producer, attempt: 2 })
      story.holds(['a', 'a'])
    },
  ],
  [
    'I24',
    'a record that was sent once is there twice',
    story => {
      story.sent(['a'], 0)
      story.holds(['a', 'a'])
    },
  ],
  [
    'I53',
    'a record that was refused is there',
    story => {
      story.history.fail(story.send(['a']), 'CORRUPT_MESSAGE')
      story.holds(['a'])
    },
  ],
])
