/** A life of a plain checkout: random acts of git and of files, a snapshot after each, and back to any of them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makePrecious, stateOf } from '../agents/losses.ts';
import { randomFrom } from '../harness/random-changes.ts';
import { agt, agtOk, run } from '../harness/world.ts';
import { seedsOfLives } from './seeds.ts';

const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 24);

/** `N` is a number of the step, `R` a small random one. */
const ACTS = [
  'echo N >"fN"',
  'echo N >>a; git add a; echo later >>a',
  'git add -A; git commit -qm cN',
  'git commit -q --allow-empty -m eN',
  'git commit -qa --amend -m amended',
  'git checkout -qfb bN',
  'git checkout -qf bR || git checkout -qf main',
  'git checkout -qf --detach HEAD~1',
  'git branch -D bR',
  'git branch -f bR HEAD~1',
  'git branch -m renamedN',
  'git tag -f -m t tR',
  'git tag -d tR',
  'git stash push -q -u -m sN',
  'git stash drop -q stash@{R}',
  'git stash pop -q',
  'git stash clear',
  'git reset -q --hard HEAD~1',
  'git reset -q HEAD~1',
  'git merge -q bR',
  'git merge --abort',
  'git rebase -q bR',
  'git rebase --abort',
  'git cherry-pick bR',
  'git cherry-pick --abort',
  'git bisect start HEAD HEAD~1',
  'git bisect reset -q',
  'git rm -qf a',
  'git clean -fdxq',
  'git reflog expire --expire=now --all; git gc -q --prune=now',
  'git pack-refs --all',
  'git update-ref refs/notes/nR HEAD',
  'git checkout -q --orphan oN; git rm -rfq .',
  'git symbolic-ref refs/heads/linkN refs/heads/main',
  'git sparse-checkout set "sub dir"',
  'git sparse-checkout disable',
  'git update-index --split-index; git update-index --assume-unchanged a',
  'rm .git/index',
  'rm -rf .git/logs',
  'rm -rf .git',
  'rm -rf "sub dir"',
  'mkdir -p deep/er; echo N >deep/er/x; ln -sf deep linkR',
] as const;

test.each(seedsOfLives(700))('life %i of a checkout', { timeout: 600_000 }, (seed) => {
  const random = randomFrom(seed);
  const folder = makePrecious();
  agtOk(folder, 'snapshot');
  const moments = [{ commit: newest(folder), state: stateOf(folder) }];
  const story: string[] = [];
  for (let step = 0; step < STEPS; step++) {
    const act = ACTS[random(ACTS.length)] ?? '';
    const script = act.replaceAll('N', `${step}`).replaceAll('R', `${random(Math.max(1, step))}`);
    story.push(script);
    run('sh', ['-c', script], { cwd: folder });
    const state = stateOf(folder);
    agtOk(folder, 'snapshot');
    expect(stateOf(folder), `a snapshot changes nothing: ${story.join('\n')}`).toBe(state);
    moments.push({ commit: newest(folder), state });
    if (random(3) > 0) continue;
    // No restore deletes a repository.
    const whole = moments.filter((moment) => moment.state.includes('refs/heads/'));
    const { commit, state: wanted } = whole[random(whole.length)] as (typeof moments)[number];
    story.push(`-> ${commit}`);
    const back = agt(folder, 'restore', commit);
    const told = `${story.join('\n')}\n${back.stdout}${back.stderr}`;
    expect(back.exitCode, told).toBe(0);
    expect(stateOf(folder), told).toBe(wanted);
    moments.push({ commit: newest(folder), state: wanted });
    if (existsSync(join(folder, '.git/HEAD'))) {
      const { stderr } = run('git', ['fsck', '--connectivity-only', '--no-dangling'], { cwd: folder });
      // The moment had a symbolic ref to a branch that was gone.
      const known = /^(notice: .*|error: refs\/heads\/link\d+: invalid sha1 pointer 0+)\n/gm;
      expect(stderr.replace(known, ''), told).toBe('');
    }
  }
});

function newest(folder: string): string {
  const log = JSON.parse(agtOk(folder, 'snapshot', 'list', '--json', '-n', '1'));
  return log[0].commit;
}
