/** Random folders and edits: a snapshot equals the folder, and a restore from the snapshot gives the same folder. */

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { capture } from '../../../src/autocommit/capture.ts';
import type { CaptureTarget } from '../../../src/autocommit/request.ts';
import { checkOutSnapshot } from '../../../src/checkout/apply.ts';
import { readSettings } from '../../../src/config/settings.ts';
import { openGit } from '../../../src/git/run/git.ts';
import { findRepository } from '../../../src/repository/find-repository.ts';
import { openRepository } from '../../../src/repository/repository.ts';
import { namedSession } from '../../../src/session/find-session.ts';
import { snapshotRefs } from '../../../src/session/record.ts';
import { Session } from '../../../src/session/session.ts';
import { TOP_FOLDERS } from '../../../src/snapshot/folders.ts';
import { readHistory, type Snapshot } from '../../../src/snapshot/history.ts';
import { restoreSession } from '../../../src/timetravel/restore/restore.ts';
import { makeSession, snapshotFolder, snapshotTree, type TestSession } from '../../harness/session.ts';
import { runsOfToday } from '../../harness/today.ts';
import { git, makeTempDir, REAL_GIT, run } from '../../harness/world.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

/** Names of one byte per character: ordinary ones, and ones that break careless programs. */
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'c.txt', 'dir', 'src', 'x.o') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('.GIT', 'git~1', '.gitmodules', '%agt-61', '.gitignore', '-n', 'a b', 'A'),
  },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ minLength: 1, maxLength: 12 })
      .map((codes) => Buffer.from(codes.map((c) => (c === 0 || c === 47 ? 95 : c))).toString('latin1'))
      .filter((text) => !['.', '..', '.git'].includes(text)),
  },
);

const path = fc
  .tuple(fc.constantFrom('sandbox', 'xdg', 'config'), fc.array(name, { minLength: 1, maxLength: 3 }))
  .map(([top, parts]) => [top, ...parts].join('/'));

const content = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((b) => Buffer.from(b)),
  fc.constantFrom(Buffer.from('one\r\ntwo\n'), Buffer.alloc(0), Buffer.alloc(5_000_000, 7)),
);

type Edit =
  | { kind: 'write'; path: string; content: Buffer; mode: number }
  | { kind: 'link'; path: string; to: string }
  | { kind: 'directory'; path: string; mode: number }
  | { kind: 'remove'; path: string }
  | { kind: 'move'; path: string; to: string }
  | { kind: 'mode'; path: string; mode: number };

const mode = fc.constantFrom(0o644, 0o755, 0o600, 0o640, 0o700, 0o444, 0o4755);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('write' as const), path, content, mode }) },
  fc.record({
    kind: fc.constant('link' as const),
    path,
    to: fc.constantFrom('a', '../../..', '/nowhere', 'x\xff'),
  }),
  fc.record({ kind: fc.constant('directory' as const), path, mode: fc.constantFrom(0o755, 0o700, 0o775) }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), path }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const), path, to: path }) },
  fc.record({ kind: fc.constant('mode' as const), path, mode }),
);

/** Skips an edit that is impossible, such as a file in a path that is a file. */
function apply(folder: string, step: Edit): void {
  const absolute = bytes(`${folder}/${step.path}`);
  const parent = bytes(`${folder}/${step.path.slice(0, step.path.lastIndexOf('/'))}`);
  try {
    if (step.kind === 'remove') rmSync(absolute, { recursive: true, force: true });
    else if (step.kind === 'mode') {
      if (!lstatSync(absolute).isSymbolicLink()) chmodSync(absolute, step.mode);
    } else {
      mkdirSync(parent, { recursive: true });
      if (step.kind === 'write') {
        writeFileSync(absolute, step.content);
        chmodSync(absolute, step.mode);
      } else if (step.kind === 'link') symlinkSync(bytes(step.to), absolute);
      else if (step.kind === 'directory') {
        mkdirSync(absolute, { recursive: true });
        chmodSync(absolute, step.mode);
      } else renameSync(absolute, bytes(`${folder}/${step.to}`));
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

function captureTarget(session: TestSession): CaptureTarget {
  return {
    sessionId: session.id,
    folder: session.folder,
    sandbox: session.sandbox,
    commonDir: join(session.repository, '.git'),
    agtDir: join(session.repository, '.git/agt'),
    shadowRef: 'refs/heads/agtsessions/s1',
    tipRef: 'refs/agt/tip/s1',
    workRef: 'refs/heads/agt/s1',
    userRef: 'refs/heads/main',
    startCommit: git(session.repository, 'rev-parse', 'main'),
  };
}

function empty(session: TestSession): void {
  for (const top of ['config', 'sandbox', 'xdg']) {
    for (const entry of readdirSync(bytes(join(session.folder, top)), 'latin1')) {
      if (entry !== '.git')
        rmSync(bytes(`${session.folder}/${top}/${entry}`), { recursive: true, force: true });
    }
  }
}

/** As a git tree records files: type, whether the file is executable, content. */
function asTree(disk: Map<string, string>): Map<string, string> {
  const tree = new Map<string, string>();
  for (const [file, text] of disk) {
    if (text.startsWith('link ')) tree.set(file, `120000 ${text.slice(5)}`);
    const match = /^file ([0-7]+) /.exec(text);
    if (match === null) continue;
    const executable = (Number.parseInt(match[1] ?? '', 8) & 0o100) !== 0;
    tree.set(file, `${executable ? '100755' : '100644'} ${text.slice(match[0].length)}`);
  }
  return tree;
}

describe('capture and checkout', () => {
  test('are inverse to each other, for random folders and edits', async () => {
    const session = makeSession({ a: 'a\n', 'src/b': 'b\n', '.gitattributes': '* text=auto eol=crlf\n' });
    const own = openGit(REAL_GIT, session.repository, process.env);
    const target = captureTarget(session);
    let seconds = 1_767_600_000;
    const options = () => ({
      agentEmail: 'agt@local',
      maxFileSize: 1 << 30,
      now: new Date(++seconds * 1000),
    });

    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(edit, { maxLength: 12 }), { minLength: 1, maxLength: 3 }),
        async (rounds) => {
          empty(session);
          for (const steps of rounds) {
            for (const step of steps) apply(session.folder, step);
            const disk = snapshotFolder(session.folder);
            const result = await capture(own, target, options());
            const commit = result.commit as string;
            expect(result.skipped).toEqual([]);
            expect(snapshotTree(session, commit)).toEqual(asTree(disk));
            expect((await capture(own, target, options())).outcome).toBe('unchanged');

            const folder = makeTempDir('back');
            for (const top of ['config', 'sandbox', 'xdg']) mkdirSync(join(folder, top));
            await checkOutSnapshot(own, commit, folder);
            expect(snapshotFolder(folder)).toEqual(disk);
            rmSync(folder, { recursive: true });
          }
        },
      ),
      { ...runsOfToday(20), seed: 20260105, endOnFailure: false },
    );
    const checked = run(REAL_GIT, ['fsck', '--strict', '--no-dangling'], { cwd: session.repository });
    // git warns of a .gitignore that is a link, in any directory.
    expect((checked.stdout + checked.stderr).split('\n').filter((line) => line.startsWith('error'))).toEqual(
      [],
    );
    expect(checked.exitCode).toBe(0);
  }, 300_000);

  test('bring a folder from any snapshot into any other, in place', async () => {
    const session = makeSession({ a: 'a\n', 'src/b': 'b\n' });
    const own = openGit(REAL_GIT, session.repository, process.env);
    const target = captureTarget(session);
    const found = await findRepository(own, session.repository);
    if (found === undefined) throw new Error('no repository');
    const repository = openRepository(own, found, () =>
      readSettings({ global: undefined, local: undefined }, {}),
    );
    const record = namedSession(repository, session.id);
    let seconds = 1_767_600_000;
    const now = () => new Date(++seconds * 1000);

    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(edit, { maxLength: 10 }), { minLength: 2, maxLength: 4 }),
        fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
        async (rounds, visits) => {
          empty(session);
          const captured: { commit: string; disk: Map<string, string>; index: string }[] = [];
          for (const steps of rounds) {
            for (const step of steps) apply(session.folder, step);
            run(REAL_GIT, ['add', '--', 'src'], { cwd: session.sandbox });
            const { commit } = await capture(own, target, {
              agentEmail: 'agt@local',
              maxFileSize: 1 << 30,
              now: now(),
            });
            captured.push({
              commit: commit as string,
              disk: snapshotFolder(session.folder),
              index: git(session.sandbox, 'ls-files', '--stage', '-v'),
            });
          }
          for (const visit of visits) {
            const wanted = captured[visit % captured.length] as (typeof captured)[number];
            const snapshot = (await readHistory(repository.git, snapshotRefs(record))).find(
              ({ commit }) => commit === wanted.commit,
            );
            const done = await restoreSession(new Session(repository, record), {
              scope: TOP_FOLDERS,
              by: 'restore',
              now: now(),
              choose: async () => snapshot as Snapshot,
            });
            expect(done.mismatches).toEqual([]);
            expect(snapshotFolder(session.folder)).toEqual(wanted.disk);
            expect(git(session.sandbox, 'ls-files', '--stage', '-v')).toBe(wanted.index);
          }
        },
      ),
      { ...runsOfToday(12), seed: 20260106, endOnFailure: false },
    );
    expect(git(session.repository, 'fsck', '--strict', '--no-dangling')).toBe('');
  }, 300_000);

  test('restore the index as it was', () => {
    const session = makeSession({ a: 'a\n' });
    writeFileSync(join(session.sandbox, 'b'), 'staged\n');
    git(session.sandbox, 'add', 'b');
    writeFileSync(join(session.sandbox, 'b'), 'on disk\n');
    writeFileSync(join(session.sandbox, 'a'), 'changed\n');
    const fork = JSON.parse(
      run(join(import.meta.dirname, '../../../dist/agt'), ['session', 'fork', '--from', 's1', '--json'], {
        cwd: session.repository,
      }).stdout,
    );
    expect(git(fork.sandbox, 'status', '--porcelain=v2')).toBe(
      git(session.sandbox, 'status', '--porcelain=v2'),
    );
    expect(git(fork.sandbox, 'diff', '--cached')).toBe(git(session.sandbox, 'diff', '--cached'));
    expect(readFileSync(join(fork.sandbox, 'b'), 'utf8')).toBe('on disk\n');
  });
});
