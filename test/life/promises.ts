/** Promises that hold at any time, whatever a life does. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { differences } from './compare.ts';
import { addFiles, type Facts, type Refs } from './facts.ts';
import type { Life } from './life.ts';
import { GIT_MODE, ok, REAL_GIT, run } from './programs.ts';

/** Refs that agt may write. */
const AGTS = /^refs\/(agt\/|heads\/agt\/|heads\/agtsessions\/)/;

/** The main worktree and the refs that are not agt's. */
export function usersThings(life: Life, refs: Refs): Facts {
  const facts = new Map<string, string>();
  addFiles(facts, join(life.repository, '..'), 'project');
  const git = join(life.repository, '.git');
  const head = readFileSync(join(git, 'HEAD'), 'latin1').trim();
  facts.set('HEAD', head);
  facts.set('HEAD commit', refs.get(head.replace('ref: ', '')) ?? head);
  const index = existsSync(join(git, 'index')) ? readFileSync(join(git, 'index')) : Buffer.from('');
  facts.set('index', createHash('sha1').update(index).digest('hex'));
  for (const [ref, commit] of refs) if (!AGTS.test(ref)) facts.set(ref, commit);
  return facts;
}

export function usersThingsStay(before: Facts, after: Facts): void {
  const changed = differences(before, after);
  if (changed.length > 0) throw new Error(`agt changed what is the user's:\n${changed.join('\n')}`);
}

/** Every commit is still reachable from a ref or a HEAD. */
export function commitsStay(life: Life, commits: readonly (string | undefined)[], why: string): void {
  const names = [...new Set(commits)].filter(
    (name) => name !== undefined && /^[0-9a-f]{40}$/.test(name),
  ) as string[];
  if (names.length === 0) return;
  const unreachable = run(REAL_GIT, ['rev-list', ...names, '--not', '--all', '--'], life.repository);
  if (unreachable.exitCode !== 0) throw new Error(`${why}: ${unreachable.stderr}`);
  const lost = names.filter((name) => unreachable.stdout.includes(name));
  if (lost.length > 0) throw new Error(`${why}: nothing keeps ${lost.join(', ')}`);
}

/** Everything in the index can be read. */
export function indexIsWhole(life: Life, facts: Facts): void {
  const entries = [...facts].filter(([key]) => key.startsWith('index '));
  const oids = entries.map(([, text]) => text.split(' ')[3]);
  if (oids.length === 0) return;
  const listed = ok(REAL_GIT, ['cat-file', '--batch-check'], life.repository, `${oids.join('\n')}\n`);
  const missing = listed.split('\n').filter((line) => line.endsWith(' missing'));
  if (missing.length > 0) throw new Error(`the index names what is not there: ${missing.join(', ')}`);
}

/** After `git read-tree --empty`, `git commit -a` does not write the tree of its commit. git reads it all the same. */
const NOT_WRITTEN_BY_GIT = 'missing tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** A life makes a directory of any file. */
const BROKEN_GITMODULES = /^warning in blob \w+: gitmodulesParse: /;
const DIRECTORY_OF_RULES = /^error in tree \w+: git\w+Blob: non-blob found at \.git\w+$/;

export function storeIsWhole(repository: string): void {
  const { exitCode, stdout, stderr } = run(REAL_GIT, ['fsck', '--strict', '--no-dangling'], repository);
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && !line.startsWith('notice:'));
  const isHarmless = (line: string) =>
    line === NOT_WRITTEN_BY_GIT || DIRECTORY_OF_RULES.test(line) || BROKEN_GITMODULES.test(line);
  const problems = lines.filter((line) => !isHarmless(line));
  if (problems.length > 0 || (exitCode !== 0 && lines.length === 0))
    throw new Error(`git fsck --strict: ${exitCode}\n${problems.join('\n')}`);
}

const SHOWING = [
  ['branch', '-a'],
  ['log', '--all', '--oneline', '--decorate=full', '-n', '40'],
  ['for-each-ref'],
  ['show-ref'],
  ['worktree', 'list'],
  ['describe', '--all', '--always'],
  ['rev-parse', '--symbolic-full-name', '--all'],
  ['show-branch', '--list'],
];

/** Git mode in the main worktree names no branch of agt. */
export function gitShowsNoAgent({ repository, random }: Life): void {
  const args = random.pick(SHOWING);
  const { stdout, stderr } = run(GIT_MODE, args, repository);
  // The subject of a stash or of a merge names the branch that it was made on. The agent may have tagged the merge.
  const output = `${stdout}${stderr}`.replace(/\b(WIP on|On|index on|untracked files on|into) agt\/\S+/g, '');
  const shown = /.*(\bagt\/s\d|agtsessions|refs\/agt|\.agt\/sessions(?!.*\/beside-tree)).*/.exec(output)?.[0];
  if (shown !== undefined) throw new Error(`git ${args.join(' ')} shows ${shown}`);
}
