/** A dry run of undo, redo and restore shows what the command then does, and leaves nothing behind. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { afterStep } from './after-step.ts';

const MOVES = [['undo'], ['undo', '--turn'], ['undo', '--turn', '1'], ['undo', '2'], ['restore', '@{1}']];

interface Shown {
  readonly changes?: readonly { readonly path: string }[];
  readonly refs?: readonly unknown[];
}

/** With the reason why there is nothing to do, if the command refuses. */
function expectSame(folder: string, words: readonly string[]): void {
  const stateOf = () => [
    git(folder, 'count-objects', '-v'),
    git(folder, 'for-each-ref'),
    git(folder, 'status', '--porcelain'),
  ];
  const before = stateOf();
  const shown = agt(folder, ...words, '-n', '--json');
  expect(stateOf()).toEqual(before);
  const done = agt(folder, ...words, '--json');
  const parse = ({ stdout, stderr }: typeof shown) => {
    if (stdout === '') return stderr;
    const { changes, refs } = JSON.parse(stdout) as Shown;
    return { changes, refs };
  };
  expect({ words, ...Object(parse(shown)) }).toEqual({ words, ...Object(parse(done)) });
}

const IN_FOLDER: Record<string, (folder: string) => void> = {
  'nothing since': () => {},
  'an edit': (folder) => write(join(folder, 'a'), 'of a person\n'),
  'an edit of another file and a new one': (folder) => {
    write(join(folder, 'b'), 'b\n');
    write(join(folder, 'c d'), 'c\n');
  },
  'a staged edit': (folder) => {
    write(join(folder, 'a'), 'staged\n');
    git(folder, 'add', 'a');
  },
  'a commit': (folder) => git(folder, 'commit', '-qam', 'of a person'),
  'an edit and a commit': (folder) => {
    write(join(folder, 'a'), 'of a person\n');
    git(folder, 'commit', '-qam', 'of a person');
  },
  'another branch': (folder) => {
    git(folder, 'commit', '-qam', 'of a person');
    git(folder, 'switch', '-qc', 'topic', 'HEAD~1');
  },
  'a reset': (folder) => git(folder, 'reset', '-q', '--hard'),
  'a stash': (folder) => git(folder, 'stash', '-q'),
  'a rename': (folder) => git(folder, 'mv', 'a', 'z'),
  'an undo and a redo': (folder) => {
    agtOk(folder, 'undo');
    agtOk(folder, 'redo');
  },
  'an undo of one turn': (folder) => agtOk(folder, 'undo', '--turn', '1'),
  'an undo, and an edit': (folder) => {
    agtOk(folder, 'undo');
    write(join(folder, 'a'), 'of a person\n');
  },
  'more of the agent': (folder) => {
    const agent = agentIn(folder, 'claude-code', 'c-1');
    agent.says('More');
    agent.begins('2');
    write(join(folder, 'e'), 'e\n');
    git(folder, 'add', 'e');
    git(folder, 'commit', '-qm', 'of the agent');
    agent.ends('2');
    agent.stops();
    write(join(folder, 'e'), 'of a person\n');
  },
};

describe.each(Object.entries(IN_FOLDER))('in a folder, after %s', (_, act) => {
  test.each(MOVES.map((words) => [words]))('agt %j', (words) => {
    const folder = afterStep('a');
    act(folder);
    expectSame(folder, words);
  });
});

const IN_SESSION: Record<string, (session: ReturnType<typeof makeSession>) => void> = {
  'no snapshot': () => {},
  'an edit': ({ sandbox }) => write(join(sandbox, 'a'), 'edit\n'),
  'a commit and an edit': ({ sandbox, folder }) => {
    write(join(sandbox, 'a'), 'commit\n');
    git(sandbox, 'commit', '-qam', 'of the agent');
    agtOk(sandbox, 'autocommit');
    write(join(folder, 'xdg/state'), 'state\n');
    write(join(sandbox, 'a'), 'edit\n');
  },
  'a lost .git file': ({ sandbox }) => {
    write(join(sandbox, 'a'), 'edit\n');
    agtOk(sandbox, 'autocommit');
    write(join(sandbox, 'b'), 'b\n');
    rmSync(join(sandbox, '.git'));
  },
  'a lost folder': ({ sandbox, folder }) => {
    write(join(sandbox, 'a'), 'edit\n');
    agtOk(sandbox, 'autocommit');
    rmSync(folder, { recursive: true });
  },
};

describe.each(Object.entries(IN_SESSION))('in a session, after %s', (_, act) => {
  test.each([['undo'], ['restore', '@'], ['undo', '2']].map((words) => [words]))('agt %j', (words) => {
    const session = makeSession({ a: 'a\n' });
    act(session);
    const [command = '', ...rest] = words;
    expectSame(session.repository, [command, 's1', ...rest]);
  });
});
