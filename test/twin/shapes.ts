/** Twins of every shape: the repositories in which git mode and real git run the same command lines. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { git, makeTempDir, write } from '../harness/world.ts';
import { AGENT, addSession, type Clock, clock, commit, gitAt, initial } from './make-commits.ts';
import { SIDES, type Twin } from './pair.ts';

type Build = (project: string, at: (minutes: number) => Clock) => void;

function linear(project: string): void {
  initial(project);
  for (let n = 1; n <= 6; n++) commit(project, n, `commit ${n}`);
  gitAt(project, 6, ['tag', 'v1', 'HEAD~3']);
  gitAt(project, 7, ['tag', '-a', '-m', 'annotated\n\nwith a body', 'v2', 'HEAD~1']);
  gitAt(project, 7, ['branch', 'feature', 'HEAD~2']);
}

function merged(project: string): void {
  linear(project);
  for (const [n, name] of ['topic/a', 'topic/b', 'agx'].entries()) {
    gitAt(project, 10 + n, ['checkout', '-q', '-b', name, 'main~2']);
    commit(project, 10 + n, `on ${name}`, `${n}.txt`);
  }
  gitAt(project, 20, ['checkout', '-q', 'main']);
  gitAt(project, 20, ['merge', '-q', '--no-edit', 'topic/a']);
  gitAt(project, 21, ['merge', '-q', '--no-edit', 'topic/b', 'agx']);
  commit(project, 22, 'after the merges', 'last.txt');
  gitAt(project, 23, ['notes', 'add', '-m', 'a note', 'HEAD~1']);
  gitAt(project, 24, ['update-ref', 'refs/custom/thing', 'HEAD~1']);
  write(join(project, 'file.txt'), 'stashed\n');
  gitAt(project, 25, ['stash', '-q']);
}

const NAMES = [
  'a',
  'ag',
  'agta',
  'agts/x',
  'agtsession',
  'agtsessionsx',
  'b',
  'HEADS',
  'release/2026/very/long/name/of/a/branch/that/goes/on',
  'x/agt/y',
  'Zed',
  'ünïcode',
  'o-dash',
  'we[ird'.replace('[', ''),
];

const SHAPES: Record<string, { cwd?: string; plain: Build; session: (project: string) => void }> = {
  empty: {
    plain: initial,
    session: (project) => {
      const tree = gitAt(project, 1, ['hash-object', '-w', '-t', 'tree', '/dev/null']);
      const orphan = gitAt(project, 1, ['commit-tree', tree, '-m', 'agt autocommit'], AGENT);
      gitAt(project, 1, ['update-ref', 'refs/heads/agtsessions/s1', orphan]);
      gitAt(project, 1, ['update-ref', 'refs/heads/agt/s1', orphan]);
    },
  },
  linear: {
    plain: linear,
    session: (project) => {
      addSession(project, 's1', 'main', false);
      addSession(project, 's2', 'feature', false);
    },
  },
  merges: {
    plain: merged,
    session: (project) => {
      addSession(project, 's1', 'main', false);
      addSession(project, 'other.1', 'topic/a', false);
      git(project, 'update-ref', 'refs/tags/agtsessions/mark', 'refs/heads/agtsessions/s1');
      git(project, 'pack-refs', '--all');
    },
  },
  'many branches': {
    plain: (project) => {
      linear(project);
      for (const name of NAMES) gitAt(project, 30, ['branch', name, 'HEAD~1']);
      for (let n = 0; n < 40; n++) gitAt(project, 30, ['branch', `many/number-${n}`, `HEAD~${n % 5}`]);
    },
    session: (project) => {
      for (let n = 0; n < 6; n++) addSession(project, `a-long-session-name-${n}`, 'main', false);
      git(project, 'pack-refs', '--all');
      addSession(project, 'loose', 'feature', false);
    },
  },
  worktrees: {
    plain: (project) => {
      merged(project);
      gitAt(project, 30, ['worktree', 'add', '-q', join(project, '..', 'mine'), 'feature']);
    },
    session: (project) => {
      addSession(project, 's1', 'main', true);
      addSession(project, 's2', 'main~1', true);
      gitAt(join(project, '..', 'sandbox-s2'), 60, ['checkout', '-q', '--detach']);
      write(
        join(project, '.git/agt/sessions/s2.json'),
        JSON.stringify({ session_id: 's2', sandbox: join(project, '..', 'sandbox-s2'), state: 'active' }),
      );
    },
  },
  'inside a sandbox': {
    cwd: 'sandbox-s1',
    plain: (project) => {
      merged(project);
      const work = gitAt(project, 54, ['commit-tree', 'main^{tree}', '-p', 'main', '-m', 'work of s1'], {
        GIT_AUTHOR_NAME: 'Robo',
      });
      gitAt(project, 54, ['update-ref', 'refs/heads/agt/s1', work]);
      gitAt(project, 55, ['worktree', 'add', '-q', join(project, '..', 'sandbox-s1'), 'agt/s1']);
    },
    session: (project) => {
      addSession(project, 's2', 'main', true);
      addSession(project, 's11', 'topic/a', true);
      addSession(project, 's', 'topic/a', false);
      const shadow = gitAt(
        project,
        56,
        ['commit-tree', 'main^{tree}', '-p', 'main', '-m', 'agt autocommit'],
        AGENT,
      );
      gitAt(project, 56, ['update-ref', 'refs/heads/agtsessions/s1', shadow]);
    },
  },
  detached: {
    plain: (project) => {
      merged(project);
      gitAt(project, 30, ['checkout', '-q', 'main~1']);
      commit(project, 31, 'on no branch');
    },
    session: (project) => addSession(project, 's1', 'main', true),
  },
  remote: {
    plain: (project) => {
      linear(project);
      const server = join(project, '..', 'server.git');
      git(project, 'clone', '-q', '--bare', '--template=', '.', server);
      git(project, 'init', '-q', '--bare', '-b', 'main', '--template=', join(project, '..', 'fresh.git'));
      git(project, 'remote', 'add', 'origin', '../server.git');
      git(project, 'remote', 'add', 'up/stream', '../server.git');
      git(project, 'fetch', '-q', '--all');
      git(project, 'branch', '-q', '-u', 'origin/main', 'main');
      git(project, 'branch', '-q', '-u', 'up/stream/feature', 'feature');
      git(project, 'remote', 'set-head', 'origin', 'main');
      gitAt(project, 40, ['update-ref', 'refs/remotes/origin/z/agt/visible', 'main']);
      commit(project, 41, 'ahead of origin');
    },
    session: (project) => {
      addSession(project, 's1', 'main', false);
      for (const remote of ['origin', 'up/stream']) {
        git(project, 'update-ref', `refs/remotes/${remote}/agt/s1`, 'refs/heads/agt/s1');
        git(project, 'update-ref', `refs/remotes/${remote}/agtsessions/s1`, 'refs/heads/agtsessions/s1');
      }
      git(project, 'push', '-q', 'origin', 'agt/s1', 'agtsessions/s1');
      git(project, 'update-ref', 'refs/remotes/gone/agt/x', 'refs/heads/agt/s1');
    },
  },
  mailmap: {
    plain: (project) => {
      initial(project);
      write(join(project, '.mailmap'), 'Proper Name <proper@example.com> <old@example.com>\n');
      const authors = [
        ['Jörg Müller', 'joerg@example.com'],
        ['Old', 'old@example.com'],
        ['名前', 'n@example.jp'],
        ['agt', 'agt@local.example'],
        ["O'Neil", 'x+agt@local'],
      ];
      for (const [n, [name = '', email = '']] of authors.entries()) {
        commit(project, n, `by ${name}`, `${n}.txt`, { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email });
      }
      gitAt(project, 9, ['branch', 'feature', 'HEAD~2']);
      gitAt(project, 9, ['tag', 'v1', 'HEAD~1']);
    },
    session: (project) => addSession(project, 's1', 'main', false),
  },
};

/** The shapes for which commands that write run: each run copies the repositories. */
export const WRITTEN_SHAPES: readonly string[] = ['linear', 'worktrees', 'inside a sandbox', 'remote'];

export const SHAPE_NAMES = Object.keys(SHAPES);

export function buildTwin(name: string): Twin {
  const shape = SHAPES[name];
  if (shape === undefined) throw new Error(`no shape ${name}`);
  const root = makeTempDir('twin');
  for (const side of SIDES) shape.plain(join(root, side, 'project'), clock);
  mkdirSync(join(root, 'with', 'project', '.git', 'agt', 'sessions'), { recursive: true });
  shape.session(join(root, 'with', 'project'));
  return { name, root, cwd: shape.cwd ?? 'project' };
}
