/** Refs in another directory than the repository (git 2.54): extensions.refStorage, GIT_REFERENCE_BACKEND. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAtLeast, parseGitVersion } from '../../src/git/run/version.ts';
import { AGT, GIT_MODE, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

const version = parseGitVersion(git('/', 'version'));
const isNew = version !== undefined && isAtLeast(version, 2, 54);

const LISTS = [
  ['branch', '-a'],
  ['for-each-ref'],
  ['log', '--all', '--decorate', '--format=%d %s'],
  ['log', '-1', '--decorate'],
  ['worktree', 'list'],
];

describe.runIf(isNew)('with git 2.54 or newer', () => {
  test.each(['files', 'reftable'])('%s in another directory: sessions work, and are hidden', (format) => {
    const backend = `${format}://${makeTempDir('refs')}`;
    const project = join(makeTempDir(), 'project');
    const call = (program: string, args: readonly string[], env: Record<string, string> = {}) => {
      const outcome = run(program, args, { cwd: project, env });
      if (outcome.exitCode !== 0) throw new Error(`${args.join(' ')}: ${outcome.stderr}`);
      return outcome.stdout.replaceAll(project, '');
    };
    write(join(project, 'file'), 'one\n');
    call(REAL_GIT, ['init', '-q', '-b', 'main'], { GIT_REFERENCE_BACKEND: backend });
    call(REAL_GIT, ['add', '.']);
    call(REAL_GIT, ['commit', '-qm', 'one']);
    call(AGT, ['session', 'new', '--id', 's1']);
    write(join(`${project}.agt/sessions/s1/sandbox/secret`), 'x\n');
    call(AGT, ['autocommit', '--session-id', 's1']);
    expect(call(REAL_GIT, ['branch', '-a'])).toContain('agtsessions/s1');
    for (const env of [{}, { GIT_REFERENCE_BACKEND: backend }]) {
      for (const args of LISTS) expect(call(GIT_MODE, args, env)).not.toMatch(/agt/);
      const target = makeTempDir('target');
      git(target, 'init', '-q', '--bare');
      call(GIT_MODE, ['push', '-q', '--all', `file://${target}`]);
      expect(git(target, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    }
    write(join(`${project}.agt/sessions/s1/sandbox/secret`), 'y\n');
    call(AGT, ['session', 'undo', 's1']);
    call(AGT, ['session', 'remove', 's1', '--force']);
    call(AGT, ['session', 'restore', 's1', '--to', '@']);
  });
});

test.skipIf(isNew)('skipped: no git 2.54 here', ({ skip }) => skip());
