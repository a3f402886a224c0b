/** In a large folder agt looks only at the paths that the front has found: which are enough, and when they are not trusted. */
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Front, SHELLS, toolEvent } from '../../harness/front.ts';
import { makeSession, type TestSession } from '../../harness/session.ts';
import { agtOk, git, makeTempDir, run, write } from '../../harness/world.ts';

const front = new Front();
const FILES = Object.fromEntries(
  Array.from({ length: 5_400 }, (_, i) => [`src/d${i % 60}/${i % 3 === 0 ? 'deep/er/' : ''}f${i}`, '']),
);

/** Every file is read again: nothing differs from the last snapshot. */
function expectExact({ sandbox }: TestSession): void {
  const args = ['autocommit', '--timestamp', '0', '--dry-run', '--json'];
  expect(JSON.parse(agtOk(sandbox, ...args))).toMatchObject({ outcome: 'unchanged', changes: [] });
}

/** A change of which find knows nothing, because the facts are younger. Only a look at every file shows it. */
function changeUnseen({ sandbox, repository }: TestSession, path: string, content = 'unseen'): void {
  writeFileSync(join(sandbox, path), content);
  const facts = join(repository, '.git/agt/front/s1');
  const later = statSync(join(sandbox, path)).ctimeMs + 1;
  while (Date.now() < later + 30);
  utimesSync(facts, later / 1000, later / 1000);
}

function captured({ sandbox }: TestSession): string[] {
  return git(sandbox, 'show', '--format=', '--name-only', 'agtsessions/s1')
    .split('\n')
    .filter((path) => path.startsWith('sandbox/'));
}

test('whatever has changed, the snapshot is exact, in each shell', () => {
  const session = makeSession(FILES);
  const { sandbox } = session;
  const at = (path: string) => join(sandbox, 'src', path);
  const other = makeTempDir();
  const changes: Record<string, () => unknown> = {
    'a file': () => writeFileSync(at('d1/f1'), 'x'),
    'the same file': () => writeFileSync(at('d1/f1'), 'y'),
    'new, with an old time': () => {
      write(join(other, 'old'), 'old');
      utimesSync(join(other, 'old'), 1, 1);
      renameSync(join(other, 'old'), at('d2/new'));
    },
    'replaced by an equal one': () => {
      writeFileSync(at('d3/copy'), '');
      renameSync(at('d3/copy'), at('d3/deep/er/f3'));
    },
    gone: () => rmSync(at('d4/f4')),
    'two directories change places': () => {
      for (const name of ['d5', 'd7']) writeFileSync(at(`${name}/same`), name);
      front.settle(sandbox);
      renameSync(at('d5'), at('swap'));
      renameSync(at('d7'), at('d5'));
      renameSync(at('swap'), at('d7'));
    },
    'a directory becomes a link': () => {
      renameSync(at('d8'), join(other, 'd8'));
      symlinkSync(join(other, 'd8'), at('d8'));
    },
    'through a hard link elsewhere': () => {
      linkSync(at('d10/f10'), join(other, 'hard'));
      front.settle(sandbox);
      appendFileSync(join(other, 'hard'), 'z');
    },
    'hostile names': () => {
      for (const name of ['looked', 'a\nlooked', 'b\nunchanged ', ' blank ', '*', '\\', "$(touch x)'"])
        writeFileSync(at(`d11/${name}`), name);
      mkdirSync(at('d12/x\npath src'), { recursive: true });
    },
    'in a directory with a hostile name': () => writeFileSync(at('d12/x\npath src/y'), 'y'),
    'a name that is not text': () => writeFileSync(Buffer.from(`${at('d13')}/\xff\xfe`, 'latin1'), 'x'),
    'and its content': () => writeFileSync(Buffer.from(`${at('d13')}/\xff\xfe`, 'latin1'), 'y'),
    many: () => {
      for (let i = 0; i < 5_400; i += 3) writeFileSync(at(`d${i % 60}/deep/er/f${i}`), 'many');
    },
    'a rule': () => writeFileSync(join(session.folder, '.agtignore'), 'sandbox/src/d14\n'),
    'no rule any more': () => rmSync(join(session.folder, '.agtignore')),
    'a commit': () => {
      writeFileSync(at('d15/f15'), 'committed');
      git(sandbox, 'commit', '-qam', 'x');
    },
  };
  for (const [i, change] of Object.values(changes).entries()) {
    front.settle(sandbox);
    change();
    const shell = SHELLS[i % SHELLS.length]?.name;
    const calls = [
      () => front.run(sandbox, ['autocommit'], {}, shell),
      () => front.run(sandbox, ['hook', 'claude-code'], { input: toolEvent(sandbox) }, shell),
    ];
    expect(calls[i % 2]?.()).toMatchObject({ exitCode: 0, stderr: '' });
    expectExact(session);
  }
});

test.each(SHELLS.map(({ name }) => name))('agt looks at nothing else (%s)', (shell) => {
  const session = makeSession(FILES);
  const { sandbox } = session;
  const autocommit = () => {
    expect(front.run(sandbox, ['autocommit'], {}, shell)).toMatchObject({ exitCode: 0, stderr: '' });
    return captured(session);
  };
  front.settle(sandbox);
  changeUnseen(session, 'src/d1/f1');
  writeFileSync(join(sandbox, 'src/d2/f2'), 'seen');
  expect(autocommit()).toEqual(['sandbox/src/d2/f2']);
  // A directory may be another one: agt looks at all that is in it.
  mkdirSync(join(sandbox, 'src/d1/empty'));
  expect(autocommit()).toContain('sandbox/src/d1/f1');

  // So it is after a tool, and before it, once the session names the agent.
  writeFileSync(join(sandbox, 'src/d2/f2'), 'first');
  front.run(sandbox, ['hook', 'claude-code'], { input: toolEvent(sandbox) }, shell);
  for (const event of ['PostToolUse', 'PreToolUse']) {
    front.settle(sandbox);
    changeUnseen(session, 'src/d1/f61', event);
    writeFileSync(join(sandbox, 'src/d2/f2'), event);
    const input = toolEvent(sandbox).replace('PostToolUse', event);
    expect(front.run(sandbox, ['hook', 'claude-code'], { input }, shell)).toMatchObject({ exitCode: 0 });
    expect(captured(session)).toEqual(['sandbox/src/d2/f2']);
  }
  // In the middle of a call, a snapshot that is none of its hook leaves nothing to the front.
  front.run(sandbox, ['hook', 'claude-code'], { input: toolEvent(sandbox) }, shell);

  // More than a few: agt looks at everything.
  front.settle(sandbox);
  changeUnseen(session, 'src/d1/f1');
  for (let i = 0; i < 5_400; i += 3) writeFileSync(join(sandbox, `src/d${i % 60}/deep/er/f${i}`), 'x');
  writeFileSync(join(sandbox, 'src/d1/f1'), 'unseen?');
  expect(autocommit()).toContain('sandbox/src/d1/f1');
});

test('other commands, other processes and other events look at everything', () => {
  const session = makeSession(FILES);
  const { sandbox } = session;
  const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'go on' };
  const calls = [
    () => front.run(sandbox, ['hook', 'claude-code'], { input: toolEvent(sandbox, prompt) }),
    () => front.run(sandbox, ['autocommit', '--all']),
    () => agtOk(sandbox, 'autocommit'),
  ];
  for (const [i, call] of calls.entries()) {
    front.settle(sandbox);
    changeUnseen(session, `src/d1/f${1 + 60 * i}`);
    writeFileSync(join(sandbox, 'src/d2/f2'), `seen ${i}`);
    call();
    expect(captured(session)).toContain(`sandbox/src/d1/f${1 + 60 * i}`);
  }
});

test('a change behind the back of find is newer than the next facts', () => {
  const session = makeSession(FILES);
  const { sandbox } = session;
  const late = join(sandbox, 'src/d0/f1000');
  // When a part has been looked at, a file in it changes; agt still has to start.
  const directory = makeTempDir('path');
  const find = run('sh', ['-c', 'command -v find'], { cwd: '/' }).stdout.trim();
  write(
    join(directory, 'find'),
    `#!/bin/sh\n${find} "$@"\nstatus=$?\necho late >'${late}'\nexit $status\n`,
    0o755,
  );
  const env = { PATH: `${directory}:${process.env['PATH']}` };
  for (let round = 0; round < 3; round++) {
    front.settle(sandbox);
    writeFileSync(join(sandbox, 'src/d2/f2'), `seen ${round}`);
    expect(front.run(sandbox, ['autocommit'], { env })).toMatchObject({ exitCode: 0, stderr: '' });
    expect(existsSync(late)).toBe(true);
    expect(front.startsForTool(sandbox, 1)).toBe(true);
    agtOk(sandbox, 'autocommit');
    expectExact(session);
    rmSync(late);
  }
});
