/** A command that is killed loses nothing, and the next ones mend what it leaves. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { agtOk, git, write } from '../harness/world.ts';
import { blob, killAtEveryStep, plainRepository, type Scene } from './killing.ts';

const MOST = Number(process.env['AGT_TEST_KILLS_EACH'] ?? 15);

/** Work in the sandbox that nobody has captured. */
const PRECIOUS = 'precious\n';

function withSession(repository: string): string {
  plainRepository(repository);
  agtOk(repository, 'session', 'new', '--id', 's1');
  return join(`${repository}.agt/sessions/s1/sandbox`);
}

/** Two states, `one` and `two`, a commit of the agent's, and uncaptured work. */
function withStates(repository: string): string {
  const sandbox = withSession(repository);
  write(join(sandbox, 'a'), 'one\n');
  write(join(sandbox, 'n/new'), 'one\n');
  agtOk(repository, 'autocommit', '--all', '--label', 'one');
  git(sandbox, 'commit', '-q', '-am', 'by the agent');
  rmSync(join(sandbox, 'n'), { recursive: true });
  for (let n = 0; n < 5; n++) write(join(sandbox, `two-${n}`), `${n}\n`);
  agtOk(repository, 'autocommit', '--all', '--label', 'two');
  write(join(sandbox, 'ignored'), PRECIOUS);
  return sandbox;
}

const SCENES: Record<string, Scene> = {
  'autocommit, the first': {
    prepare: (repository) => write(join(withSession(repository), 'work'), PRECIOUS),
    command: ['autocommit', '--all'],
    precious: [blob(PRECIOUS)],
  },
  'autocommit, a later one': {
    prepare: (repository) => void withStates(repository),
    command: ['autocommit', '--all', '--label', 'three'],
    precious: [blob(PRECIOUS)],
  },
  'session new': {
    prepare: (repository) => void withStates(repository),
    command: ['session', 'new', '--id', 's2'],
    precious: [blob(PRECIOUS)],
  },
  'session new, the first': {
    prepare: plainRepository,
    command: ['session', 'new', '--id', 's1'],
    precious: [],
  },
  'session fork': {
    prepare: (repository) => void withStates(repository),
    command: ['session', 'fork', '--from', 's1', '--id', 's2'],
    precious: [blob(PRECIOUS)],
  },
  'session restore': {
    prepare: (repository) => void withStates(repository),
    command: ['session', 'restore', 's1', '--to', 'one'],
    precious: [blob(PRECIOUS)],
  },
  'session restore, of a removed one': {
    prepare: (repository) => {
      withStates(repository);
      agtOk(repository, 'session', 'remove', 's1');
    },
    command: ['session', 'restore', 's1', '--to', 'one'],
    precious: [blob(PRECIOUS)],
  },
  'session undo': {
    prepare: (repository) => void withStates(repository),
    command: ['session', 'undo', 's1'],
    precious: [blob(PRECIOUS)],
  },
  'session remove': {
    prepare: (repository) => void withStates(repository),
    command: ['session', 'remove', 's1'],
    precious: [blob(PRECIOUS)],
  },
  'gc --thin': {
    prepare: (repository) => void withStates(repository),
    command: ['gc', '--thin', '--prune=now'],
    precious: [blob(PRECIOUS)],
  },
};

describe('killed at every step', () => {
  let kills = 0;
  test.each(Object.entries(SCENES))(
    '%s',
    (_, scene) => {
      const count = killAtEveryStep(scene, MOST);
      expect(count).toBeGreaterThan(5);
      kills += count;
    },
    300_000,
  );
  afterAll(() => console.log(`${kills} kills`));
});
