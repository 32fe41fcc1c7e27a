/**
 * Mistakes that the simulation finds within a few hundred seeds each, in the form of the simulator's bank of planted
 * bugs: `find` is once in `file` (relative to `src/`) and is replaced when the module is loaded.
 */
export const bugs: readonly {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
}[] = [
  {
    name: 'raft: a vote is answered before it is on disk',
    file: 'core/raft/outbox.ts',
    find: 'if (isMessage(effect) && !this.isPersisted)',
    replace: "if (effect.type === 'send' && !this.isPersisted)",
  },
  {
    name: "raft: the leader's own log counts before it is flushed",
    file: 'core/raft/commit.ts',
    find: 'replica.log.view.flushedOffset)',
    replace: 'replica.log.logEndOffset)',
  },
  {
    name: 'raft: a record of an older epoch commits by itself',
    file: 'core/raft/commit.ts',
    find: 'offset <= role.epochStartOffset || ',
    replace: '',
  },
  {
    name: 'raft: an epoch is started without asking first',
    file: 'core/raft/votes.ts',
    find: '  if (role.tally.isGranted) replica.becomeCandidate(now)',
    replace: '  if (role) replica.becomeCandidate(now)',
  },
  {
    name: 'raft: the vote of an epoch is kept in the next',
    file: 'core/raft/election.ts',
    find: '    this.#epoch = epoch\n    this.#votedKey = undefined',
    replace: '    this.#epoch = epoch',
  },
  {
    name: 'raft: a diverging log is cut down to its start',
    file: 'core/raft/follower.ts',
    find: 'const endOffset = own.epoch === diverging.epoch ? Math.min(own.offset, diverging.endOffset) : own.offset',
    replace: 'const endOffset = Math.min(own.offset, replica.log.view.logStartOffset)',
  },
  {
    name: 'raft: a leader counts itself twice',
    file: 'core/raft/replica-progress.ts',
    find: '    return offsets.sort((a, b) => b - a)[Math.floor(voters.size / 2)]',
    replace: '    return [...offsets, ownFlushedOffset].sort((a, b) => b - a)[Math.floor(voters.size / 2)]',
  },
  {
    name: 'raft: a removed voter counts its own vote',
    file: 'core/raft/tally.ts',
    find: '    if (voters.has(nominee)) this.#answers',
    replace: '    this.#answers',
  },
  {
    name: 'raft: a second voter change while the first is open',
    file: 'core/raft/voter-changes.ts',
    find: '  if (history.votersOffset >= role.highWatermark) {',
    replace: '  if (history.votersOffset >= replica.log.logEndOffset) {',
  },
  {
    name: 'raft: a vote for a shorter log',
    file: 'core/raft/votes.ts',
    find: '  if (!isUpToDate || candidate.id',
    replace: '  if (candidate.id',
  },
  {
    name: 'raft: logs compared by length alone',
    file: 'core/raft/log-view.ts',
    find: '  return a.epoch - b.epoch || a.offset - b.offset',
    replace: '  return a.offset - b.offset',
  },
  {
    name: 'raft: two votes in one epoch',
    file: 'core/raft/votes.ts',
    find: '  return votedKey === undefined || isReplica(votedKey, candidate)',
    replace: '  return votedKey !== candidate',
  },
  {
    name: 'raft: a fetch claims what is not flushed',
    file: 'core/raft/follower.ts',
    find: '  return replica.log.isFlushed && replica.logChange === undefined',
    replace: '  return replica.logChange === undefined',
  },
  {
    name: 'raft: voters stay as a truncated change made them',
    file: 'core/raft/follower.ts',
    find: '  replica.history.truncateTo(replica.log.logEndOffset)',
    replace: '',
  },
  {
    name: 'raft: half a snapshot is loaded',
    file: 'core/raft/snapshot-fetch.ts',
    find: '  if (position < sizeBytes) return',
    replace: '  if (position < sizeBytes / 2) return',
  },
  {
    name: 'raft: a diverging log is read on',
    file: 'core/raft/log-view.ts',
    find: '  if (end.epoch !== lastFetchedEpoch || end.offset < fetchOffset)',
    replace: '  if (end.offset < fetchOffset)',
  },
  {
    name: 'raft: a voter with an empty disk votes as the one it was',
    file: 'core/raft/epochs.ts',
    find: '  return voterDirectoryId === zeroUuid || voterDirectoryId === replica.key.directoryId',
    replace: '  return voterDirectoryId.length === 22',
  },
  {
    name: 'raft: a message does not wait for its own quorum state',
    file: 'core/raft/outbox.ts',
    find: 'while (released < this.#held.length && this.#held[released].version <= this.#persisted) released++',
    replace: 'while (released < this.#held.length) released++',
  },
  {
    name: 'raft: a leader is active when elected',
    file: 'core/raft/commit.ts',
    find: '  if (!role.hasStarted) return',
    replace:
      "  if (role.hasStarted && role.highWatermark === undefined) replica.outbox.push({ type: 'leaderActive', leaderEpoch: role.leaderEpoch })\n  if (!role.hasStarted) return",
  },
  {
    name: 'raft: half of the votes are a majority',
    file: 'core/raft/tally.ts',
    find: '    return this.#count(true) >= this.voters.majority',
    replace: '    return this.#count(true) >= Math.ceil(this.voters.size / 2)',
  },
  {
    name: 'raft: a leader that nobody follows stays',
    file: 'core/raft/leader.ts',
    find: '  return heardMs + checkQuorumFactor * replica.config.fetchTimeoutMs',
    replace: '  return heardMs + 1e9 * checkQuorumFactor * replica.config.fetchTimeoutMs',
  },
  {
    name: 'raft: a removed leader stays',
    file: 'core/raft/leader.ts',
    find: '  return !replica.isVoter && (role.highWatermark ?? -1) > replica.history.votersOffset',
    replace: '  return !replica.isVoter && (role.highWatermark ?? -1) > Number.MAX_VALUE',
  },
]
