/** agt blame: lines of agents through every way home, and in checkouts without a session. */
import { appendFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { endedDaysAgo } from '../harness/opened.ts';
import { makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, run } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

interface Line {
  content: string;
  author: string;
  commit: string | null;
  origin: {
    by: string;
    agent: string | null;
    turn: number | null;
    tool: string | null;
    session: string;
    call: string | null;
    prompt: string | null;
    snapshot: string | null;
    at: string;
  } | null;
}

const blame = (cwd: string, ...words: string[]) =>
  JSON.parse(agtOk(cwd, 'blame', '--json', ...words)) as Line[];

/** `content: who turn tool`, where `who` is the agent, or `-`. */
const told = (lines: readonly Line[]) =>
  lines.map(({ content, origin }) =>
    origin === null || origin.by !== 'agent'
      ? `${content}: -`
      : `${content}: ${origin.agent} ${origin.turn} ${origin.call}`,
  );

const EXPECTED = [
  'one: -',
  'by call 1: claude 1 1',
  'two: -',
  'by call 2: claude 2 2',
  'three: -',
  'by call 1 too: claude 1 1',
];

/** Two turns in one file, and a second file. */
function work(cwd: string) {
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  agent.says('first');
  agent.begins('1');
  writeFileSync(join(cwd, 'f'), 'one\nby call 1\ntwo\nthree\nby call 1 too\n');
  agent.ends('1');
  agent.says('second');
  agent.begins('2');
  writeFileSync(join(cwd, 'f'), 'one\nby call 1\ntwo\nby call 2\nthree\nby call 1 too\n');
  writeFileSync(join(cwd, 'new'), 'all of call 2\n');
  agent.ends('2');
  agent.stops();
}

const HOME: Record<string, (session: TestSession) => void> = {
  accept: ({ repository, id }) => agtOk(repository, 'accept', id, '--untracked=all'),
  'accept of a commit of the agent': ({ repository, id, sandbox }) => {
    git(sandbox, 'add', '.');
    git(sandbox, 'commit', '-qm', 'work');
    agtOk(repository, 'accept', id);
  },
  'accept --merge': ({ repository, id, sandbox }) => {
    git(sandbox, 'add', '.');
    git(sandbox, 'commit', '-qm', 'work');
    agtOk(repository, 'accept', id, '--keep-commits');
  },
  'accept --commits': ({ repository, id, sandbox }) => {
    git(sandbox, 'add', '.');
    git(sandbox, 'commit', '-qm', 'work');
    agtOk(repository, 'accept', id, '--commits', 'HEAD');
  },
  'accept, and agt gc deletes the snapshots': (session) => {
    const { repository, id } = session;
    agtOk(repository, 'accept', id, '--untracked=all');
    endedDaysAgo(session, 400);
    agtOk(repository, 'gc', '--prune=now');
    expect(git(repository, 'for-each-ref', 'refs/agt', 'refs/heads/agt')).toMatch(
      /^\S+ commit\trefs\/agt\/lines\/\S+$/,
    );
    expect(git(repository, 'log', '-1', '--format=%s', `refs/agt/lines/${id}`)).toBe(
      `Steps from which the accepted lines of session ${id} come`,
    );
  },
  'a rename in it, by the agent': (session) => {
    const { repository, id, sandbox } = session;
    const agent = agentIn(sandbox, 'claude-code', 'c-1');
    git(sandbox, 'add', '.');
    agent.says('third');
    agent.begins('3');
    git(sandbox, 'mv', 'f', 'g');
    agent.ends('3');
    agtOk(repository, 'accept', id, '--untracked=all');
    git(repository, 'mv', 'g', 'f');
    git(repository, 'commit', '-qm', 'back');
  },
  'a rename after it': ({ repository, id }) => {
    agtOk(repository, 'accept', id, '--untracked=all');
    git(repository, 'mv', 'f', 'g');
    git(repository, 'commit', '-qm', 'rename');
    git(repository, 'mv', 'g', 'f');
    git(repository, 'commit', '-qm', 'back');
  },
  amend: ({ repository, id }) => {
    agtOk(repository, 'accept', id, '--untracked=all');
    git(repository, 'commit', '-q', '--amend', '-m', 'said better');
  },
  rebase: ({ repository, id }) => {
    agtOk(repository, 'accept', id, '--untracked=all');
    git(repository, 'branch', 'other', 'HEAD^');
    git(repository, 'checkout', '-q', 'other');
    writeFileSync(join(repository, 'elsewhere'), 'x\n');
    git(repository, 'add', '.');
    git(repository, 'commit', '-qm', 'other');
    git(repository, 'checkout', '-q', '-');
    git(repository, 'rebase', '-q', 'other');
  },
  'cherry-pick': ({ repository, id }) => {
    agtOk(repository, 'accept', id, '--untracked=all');
    git(repository, 'checkout', '-q', '-b', 'release', 'HEAD^');
    git(repository, 'cherry-pick', 'HEAD@{1}');
  },
  'a squash with work of a person': ({ repository, id }) => {
    writeFileSync(join(repository, 'own'), 'x\n');
    git(repository, 'add', '.');
    git(repository, 'commit', '-qm', 'own');
    agtOk(repository, 'accept', id, '--untracked=all');
    appendFileSync(join(repository, 'own'), 'y\n');
    git(repository, 'commit', '-qam', 'more');
    git(repository, 'reset', '-q', '--soft', 'HEAD~3');
    git(repository, 'commit', '-qm', 'all of it in one');
  },
};

describe('lines of a session', () => {
  test.each(Object.entries(HOME))('%s', (_, land) => {
    const session = makeSession({ f: 'one\ntwo\nthree\n' });
    const { repository, sandbox } = session;
    work(sandbox);
    expect(told(blame(sandbox, 'f'))).toEqual(EXPECTED);
    if (!git(sandbox, 'ls-files', 'new'))
      expect(told(blame(sandbox, 'new'))).toEqual(['all of call 2: claude 2 2']);
    land(session);
    expect(told(blame(repository, 'f'))).toEqual(EXPECTED);
    expect(told(blame(repository, 'new'))).toEqual(['all of call 2: claude 2 2']);
    // A person goes on.
    writeFileSync(
      join(repository, 'f'),
      readFileSync(join(repository, 'f'), 'utf8').replace('two', 'by a person'),
    );
    expect(told(blame(repository, 'f'))).toEqual(EXPECTED.with(2, 'by a person: -'));
    git(repository, 'commit', '-qam', 'a person');
    expect(told(blame(repository, '-L', '2,4', 'f'))).toEqual(EXPECTED.with(2, 'by a person: -').slice(1, 4));
    expect(told(blame(repository, 'HEAD^', '--', 'f'))).toEqual(EXPECTED);
  });
});

describe('lines in a checkout without a session', () => {
  test('of an agent, committed by the agent or by the user, or not at all; not those that came from elsewhere', () => {
    const cwd = makeRepository({ f: 'one\ntwo\nthree\n' });
    git(cwd, 'branch', 'colleague');
    vi.stubEnv('GIT_AUTHOR_DATE', '');
    vi.stubEnv('GIT_COMMITTER_DATE', '');
    work(cwd);
    expect(told(blame(cwd, 'f'))).toEqual(EXPECTED);
    const agent = agentIn(cwd, 'claude-code', 'c-1');
    git(cwd, 'commit', '-qam', 'by the user');
    expect(told(blame(cwd, 'f'))).toEqual(EXPECTED);
    agent.says('third');
    agent.begins('3');
    appendFileSync(join(cwd, 'f'), 'by call 3\n');
    git(cwd, 'commit', '-qam', 'by the agent');
    agent.ends('3');
    appendFileSync(join(cwd, 'f'), 'by a person\n');
    git(cwd, 'commit', '-qam', 'by the user again');
    git(cwd, 'checkout', '-q', 'colleague');
    appendFileSync(join(cwd, 'other'), 'of a colleague\n');
    git(cwd, 'add', '.');
    git(cwd, 'commit', '-qm', 'of a colleague');
    git(cwd, 'checkout', '-q', '-');
    run('sleep', ['1.1'], { cwd }); // git counts seconds
    agent.begins('0');
    agent.ends('0');
    agent.begins('4');
    git(cwd, 'merge', '-q', '-m', 'merge', 'colleague');
    agent.ends('4');
    agent.stops();
    expect(told(blame(cwd, 'f'))).toEqual([...EXPECTED, 'by call 3: claude 3 3', 'by a person: -']);
    expect(told(blame(cwd, 'other'))).toEqual(['of a colleague: -']);
    expect(agtOk(cwd, 'blame', '-L', '2,2', 'f')).toMatch(
      /^[0-9a-f]{10} \(claude \S+ turn 1 Bash \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} 2\) by call 1$/,
    );
  });

  test('without any agent it prints the lines of git; what is no file is refused in one line', () => {
    const cwd = makeRepository({ f: 'one\ntwo\n', 'd/g': 'x\n' });
    const of = (words: readonly string[]) => words.map((line) => line.replace(/^\^?[0-9a-f]+ /, ''));
    expect(of(agtOk(cwd, 'blame', 'f').split('\n'))).toEqual(of(git(cwd, 'blame', 'f').split('\n')));
    expect(agtOk(join(cwd, 'd'), 'blame', '--porcelain', 'g')).toBe(
      git(join(cwd, 'd'), 'blame', '--line-porcelain', 'g'),
    );
    symlinkSync('nowhere', join(cwd, 'link'));
    git(cwd, 'add', 'link');
    git(cwd, 'commit', '-qm', 'link');
    expect(of(agtOk(cwd, 'blame', 'link').split('\n'))).toEqual(of(git(cwd, 'blame', 'link').split('\n')));
    expect(agt(cwd, 'blame', 'missing')).toMatchObject({ exitCode: 128, stdout: '' });
    expect(agt(cwd, 'blame')).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('agt why tells the story of a line, and what its step changed; --export is a record for other tools', () => {
    const session = makeSession({ f: 'one\ntwo\nthree\n' });
    const { repository, sandbox, id } = session;
    work(sandbox);
    agtOk(repository, 'accept', id, '--untracked=all');
    const story = agtOk(repository, 'why', 'f:4');
    expect(story).toMatch(
      /^f:4: by call 2\n {2}by {6}claude s1 turn 2 Bash\n {2}prompt {2}second\n {2}call {4}Bash 2\n {2}step {4}[0-9a-f]{10}, .*\n {2}commit {2}[0-9a-f]{10} /,
    );
    expect(story).toMatch(/^\+by call 2$/m);
    expect(story).not.toContain('new');
    const [, , , fourth] = blame(repository, 'f');
    expect(git(repository, 'rev-list', `agtsessions/${id}`).split('\n')).toContain(fourth?.origin?.snapshot);
    expect(fourth?.origin?.at).toMatch(/^20.*Z$/);
    expect(agtOk(repository, 'why', 'f:4', '--open')).toContain('+all of call 2');
    expect(agtOk(repository, 'why', 'f:1')).toMatch(
      /^f:1: one\n {2}by {6}Ann Author\n {2}commit {2}.*\n\ndiff /,
    );
    expect(agtOk(repository, 'why', 'HEAD~1', 'f:2')).toMatch(/^f:2: two\n {2}by {6}Ann Author\n/);
    const now = agtOk(repository, 'why', 'f:2');
    for (const words of [
      ['HEAD', 'f:2'],
      ['HEAD', '--', 'f', '2'],
    ])
      expect(agtOk(repository, 'why', ...words)).toBe(now);
    for (const place of ['f', 'f:0', 'f:99', 'nothing:1', 'HEAD f:1 f', 'HEAD f', 'none f:1']) {
      const refused = agt(repository, 'why', ...place.split(' '));
      expect(refused.exitCode).toBeGreaterThan(0);
      expect(refused.stdout).toBe('');
    }
    const { files, vcs, version } = JSON.parse(agtOk(repository, 'blame', '--export', 'agent-trace', 'f'));
    expect([version, vcs]).toEqual([
      '0.1.0',
      { type: 'git', revision: git(repository, 'rev-parse', 'HEAD') },
    ]);
    const human = [1, 3, 5].map((n) => ({ start_line: n, end_line: n }));
    expect(files).toEqual([
      {
        path: 'f',
        conversations: [
          { contributor: { type: 'human' }, ranges: human },
          {
            contributor: { type: 'ai' },
            ranges: [2, 6].map((n) => ({ start_line: n, end_line: n })),
            related: [{ type: 'session', url: 'agt:s1/turn/1' }],
            metadata: { agent: 'claude', prompt: 'first' },
          },
          expect.objectContaining({ ranges: [{ start_line: 4, end_line: 4 }] }),
        ],
      },
    ]);
  });

  test('names with line breaks, in a session and after it; undo of such a file', () => {
    const name = 'a\nb ü';
    const session = makeSession({ f: 'f\n', [name]: 'one\n' });
    const { repository, sandbox, id } = session;
    const agent = agentIn(sandbox, 'claude-code', 'c-1');
    for (const [turn, text] of ['one\ntwo\n', 'one\ntwo\nthree\n'].entries()) {
      agent.says(`prompt ${turn}`);
      agent.begins(`${turn}`);
      writeFileSync(join(sandbox, name), text);
      agent.ends(`${turn}`);
    }
    const expected = ['one: -', 'two: claude 1 0', 'three: claude 2 1'];
    expect(told(blame(sandbox, name))).toEqual(expected);
    agtOk(sandbox, 'undo', '--turn', '2');
    expect(readFileSync(join(sandbox, name), 'utf8')).toBe('one\ntwo\n');
    agtOk(sandbox, 'undo');
    agent.stops();
    const accepted = agt(repository, 'accept', id, '--untracked=all');
    expect([accepted.exitCode, accepted.stderr]).toEqual([0, expect.not.stringContaining('warning')]);
    expect(told(blame(repository, name))).toEqual(expected);
    expect(told(blame(repository, '-L2,2', '--', name))).toEqual(expected.slice(1, 2));
  });
});
