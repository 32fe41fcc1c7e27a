import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { checkedOutRevision } from './checked-out-revision.ts'

const commit = '0123456789abcdef0123456789abcdef01234567'
const other = 'f'.repeat(40)

const cases: Readonly<Record<string, { readonly files: Record<string, string>; readonly revision?: string }>> = {
  'no git at all': { files: {} },
  'a branch': {
    files: { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${commit}\n` },
    revision: commit,
  },
  'a branch that is packed': {
    files: {
      '.git/HEAD': 'ref: refs/heads/a/b\n',
      '.git/packed-refs': `# pack-refs with: peeled\n${other} refs/heads/b\n${commit} refs/heads/a/b\n^${other}\n`,
    },
    revision: commit,
  },
  'no branch': { files: { '.git/HEAD': `${commit}\n` }, revision: commit },
  'no commit yet': { files: { '.git/HEAD': 'ref: refs/heads/main\n' } },
  'a worktree': {
    files: {
      '.git': 'gitdir: main/.git/worktrees/w\n',
      'main/.git/worktrees/w/HEAD': 'ref: refs/heads/w\n',
      'main/.git/worktrees/w/commondir': '../..\n',
      'main/.git/refs/heads/w': `${commit}\n`,
    },
    revision: commit,
  },
  'files that say nothing': { files: { '.git/HEAD': '\0\0', '.git/packed-refs': 'x' } },
}

for (const [what, { files, revision }] of Object.entries(cases)) {
  test(`the revision of ${what} is ${revision === undefined ? 'not known' : 'found'}`, () => {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-revision-'))
    try {
      for (const [name, content] of Object.entries(files)) {
        mkdirSync(dirname(join(directory, name)), { recursive: true })
        writeFileSync(join(directory, name), content)
      }
      assert.equal(checkedOutRevision(directory), revision)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
}
