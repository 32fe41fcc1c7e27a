import { news, place, testMistakes, testSound } from './story.test.ts'

testSound({
  'records that were deleted, and a log start that says so': story => {
    story.sent(['a', 'b'], 0)
    story.history.ok(story.history.begin('admin', 'deleteRecords', { ...place, offset: 1 }), { lowWatermark: 1 })
    story.holds(['b'], { logStartOffset: 1 })
  },
  'records that are gone since they were too old': story => {
    story.sent(['a', 'b'], 0, news)
    story.newsBeginAt(1, 1002)
    story.holds(['b'], { logStartOffset: 1, target: news })
  },
  'records that were deleted before they were too old': story => {
    story.sent(['a', 'b'], 0, news)
    story.history.begin('admin', 'deleteRecords', { ...news, offset: 1 })
    story.newsBeginAt(1, 900)
    story.holds(['b'], { logStartOffset: 1, target: news })
  },
})

testMistakes([
  [
    'I56',
    'a record is gone before it is too old',
    story => {
      story.sent(['a', 'b'], 0, news)
      story.newsBeginAt(1, 1001)
      story.holds(['b'], { logStartOffset: 1, target: news })
    },
  ],
  [
    'I56',
    'more is gone than was deleted, and not too old',
    story => {
      story.sent(['a', 'b', 'c'], 0, news)
      story.history.begin('admin', 'deleteRecords', { ...news, offset: 1 })
      story.newsBeginAt(2, 900)
      story.holds(['c'], { logStartOffset: 2, target: news })
    },
  ],
  [
    'I56',
    'a log begins where nobody has deleted',
    story => {
      story.sent(['a', 'b'], 0)
      story.holds(['b'], { logStartOffset: 1 })
    },
  ],
])
