/** The user, or the agent, is in the middle of a rebase. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

/** Edits the last commit of a rebase: HEAD is detached meanwhile. */
const stop = { GIT_SEQUENCE_EDITOR: "sed -i -e 's/^pick/edit/'" };

test('sync takes no branch that is being rebased, and export names the rebase in the sandbox', () => {
  const { repository, sandbox, id } = makeSession({ a: '1\n' });
  write(`${repository}/b`, 'b\n');
  git(repository, 'add', 'b');
  git(repository, 'commit', '-qm', 'mine');
  run(REAL_GIT, ['rebase', '-q', '-i', 'HEAD~1'], { cwd: repository, env: stop });
  expect(agt(repository, 'sync', id).stderr).toBe(
    `error: "main" is being rebased in ${repository}\nhint: finish or abort that first\n`,
  );
  git(repository, 'rebase', '--abort');
  agtOk(repository, 'sync', id);
  write(`${sandbox}/c`, 'c\n');
  git(sandbox, 'add', 'c');
  git(sandbox, 'commit', '-qm', 'by the agent');
  run(REAL_GIT, ['rebase', '-q', '-i', 'HEAD~1'], { cwd: sandbox, env: stop });
  expect(agt(repository, 'export', id).stderr).toContain(`the sandbox of "${id}" has a rebase in progress`);
  git(sandbox, 'rebase', '--abort');
  git(sandbox, 'checkout', '-q', '--detach');
  expect(agt(repository, 'export', id).stderr).toContain(
    `git -C ${sandbox} switch agt/${id} && git -C ${sandbox} merge `,
  );
});

test('a sync that stops in a conflict of a rebase advises in the words of agt alone', () => {
  const { repository, sandbox, id } = makeSession({ a: '1\n' });
  write(`${sandbox}/a`, 'by the agent\n');
  git(sandbox, 'commit', '-qam', 'by the agent');
  const commit = git(sandbox, 'rev-parse', '--short', 'HEAD');
  write(`${repository}/a`, 'mine\n');
  git(repository, 'commit', '-qam', 'mine');
  const [first, ...lines] = agt(repository, 'sync', id, '--rebase').stderr.split('\n');
  expect(first).toBe(`error: could not apply ${commit}... by the agent`);
  expect(lines).toEqual([
    `error: main conflicts with ${id} in 1 file: a`,
    expect.stringMatching(/^hint: solve them in .* git rebase --continue$/),
    `hint: or go back: agt undo ${id}`,
    '',
  ]);
});

test('agt is killed while git rebases: git comes to its conflict, and can go on from there', async () => {
  const { repository, sandbox, id } = makeSession({ a: '1\n', '.gitattributes': 'a merge=slow\n' });
  write(`${sandbox}/a`, 'by the agent\n');
  git(sandbox, 'commit', '-qam', 'by the agent');
  write(`${repository}/a`, 'mine\n');
  git(repository, 'commit', '-qam', 'mine');
  // Its parent is git, and that of git is agt.
  const script = join(makeTempDir(), 'merge');
  const kill = `read -r _ _ _ agt _ <"/proc/$PPID/stat"; echo "$PPID" >${script}.git; kill -9 "$agt"`;
  write(script, `if [ -d "$(git rev-parse --git-dir)/rebase-merge" ]; then ${kill}; fi; exit 1\n`);
  git(repository, 'config', 'merge.slow.driver', `exec sh ${script}`);
  expect(spawnSync(AGT, ['sync', id, '--rebase'], { cwd: repository }).signal).toBe('SIGKILL');
  const pid = Number(readFileSync(`${script}.git`, 'utf8'));
  while (existsSync(`/proc/${pid}`)) await setTimeout(20);
  write(`${sandbox}/a`, 'both\n');
  git(sandbox, 'add', 'a');
  const env = { GIT_EDITOR: ':' };
  expect(run(REAL_GIT, ['rebase', '--continue'], { cwd: sandbox, env }).exitCode).toBe(0);
  expect(git(sandbox, 'log', '--format=%s', 'main..')).toBe('by the agent');
});
