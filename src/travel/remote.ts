/** The refs of sessions on a remote: read, fetched, and moved only if nobody else has moved them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError, EXIT, FEW, listSome } from '../errors.ts';
import { SHARED, sharedHeadRef, sharedPartsRef } from '../filter/agent-refs.ts';
import { branchTips } from '../git/objects/remote-branches.ts';
import type { ScratchObjects } from '../git/objects/scratch-objects.ts';
import { withSettings } from '../git/run/environment.ts';
import { asLines, type Git, gitLines, runGit } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { didYouMean } from '../similar.ts';

/** Encrypted bytes can neither be compressed, nor are two of them alike. */
export const AS_IT_IS = {
  'core.compression': '0',
  'pack.compression': '0',
  'core.bigFileThreshold': '64k',
};

/** What the two refs of a session name. Undefined for a ref that is not there. */
export interface Refs {
  readonly head?: string | undefined;
  readonly parts?: string | undefined;
}

/** By the name of the share: of all, or of one. */
export async function listRefs(git: Git, remote: string, share = '*'): Promise<Map<string, Refs>> {
  const found = new Map<string, Refs>();
  for (const line of await askRemote(git, remote, ['ls-remote', '--', remote, `${SHARED}${share}/*`])) {
    const [oid = '', ref = ''] = line.split('\t');
    const [name = '', kind = ''] = ref.slice(SHARED.length).split('/');
    found.set(name, { ...found.get(name), [kind]: oid });
  }
  return found;
}

export async function readRefs(git: Git, remote: string, share: string): Promise<Refs> {
  return (await listRefs(git, remote, share)).get(share) ?? {};
}

/** No ref here moves. `isApart`: nothing here leads to the objects or from them, so git need not compare histories. */
export async function fetchRefs(
  git: Git,
  remote: string,
  refs: readonly string[],
  { isApart = false }: { readonly isApart?: boolean } = {},
): Promise<void> {
  if (refs.length === 0) return;
  const apart = isApart ? ['-c', 'fetch.negotiationAlgorithm=noop'] : [];
  await askRemote(git, remote, [...apart, ...FETCH, '--stdin', '--', remote], asLines(refs));
}

const FETCH = [
  ...['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'],
  ...['--no-prune', '--refmap=', '--no-recurse-submodules'],
];

async function askRemote(git: Git, remote: string, words: readonly string[], input = ''): Promise<string[]> {
  const run = await runGit(git, words, { input });
  if (run.exitCode === 0) return run.stdout.toString().split('\n').filter(Boolean);
  if (await isRemote(git, remote)) throw cannotReach(remote, run.stderr);
  throw noRemote(await gitLines(git, ['remote']), remote);
}

function noRemote(remotes: readonly string[], name?: string): AgtError {
  const names =
    remotes.length > 0 ? `remotes here: ${listSome(remotes, FEW)}` : 'add one: git remote add NAME URL';
  return new AgtError(`this repository has no remote${name === undefined ? '' : ` "${name}"`}`, {
    hints: [...didYouMean(name ?? '', remotes), `${names}; or give its address`],
  });
}

function cannotReach(remote: string, stderr: string): AgtError {
  const said = stderr.split('\n').map((line) => line.replace(/^(fatal|error|remote): */, '').trim());
  const reason = said.find((line) => line !== '') ?? 'git says no reason';
  const way = isAddress(remote)
    ? 'correct the address'
    : `correct its address: git remote set-url ${remote} URL`;
  const isNowhere = reason.includes('does not appear to be a git repository');
  return new AgtError(`git cannot reach "${remote}": ${reason}`, {
    exitCode: EXIT.git,
    hints: [isNowhere ? way : `try it: git ls-remote ${remote}`],
    cause: stderr,
  });
}

export function branchesOf(repository: Repository, remote: string): Promise<string[]> {
  return branchTips(repository, remote, (words) => askRemote(repository.git, remote, words));
}

/** Where a user fetches every ref, git would note here what was pushed, but its objects are only in the scratch. */
export function withoutTracking({ git, dir }: ScratchObjects): Git {
  const hooks = join(dir, 'hooks');
  mkdirSync(hooks, { recursive: true });
  writeFileSync(join(hooks, 'reference-transaction'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  return withSettings(git, { ...AS_IT_IS, 'core.hooksPath': hooks });
}

/** Both refs or none. Returns false if the remote has another state than `from`. @throws AgtError if it refuses. */
export async function moveRefs(
  git: Git,
  remote: string,
  share: string,
  there: Refs,
  next: Refs,
): Promise<boolean> {
  const moves = [
    { ref: sharedPartsRef(share), from: there.parts ?? '', to: next.parts ?? '' },
    { ref: sharedHeadRef(share), from: there.head ?? '', to: next.head ?? '' },
  ].filter(({ from, to }) => from !== to);
  const words =
    'push --atomic --porcelain --no-verify --no-follow-tags --no-signed --recurse-submodules=no'.split(' ');
  const leases = moves.map(({ ref, from }) => `--force-with-lease=${ref}:${from}`);
  const specs = moves.map(({ ref, to }) => `${to}:${ref}`);
  const run = await runGit(git, [...words, ...leases, '--', remote, ...specs]);
  const said = run.stdout.toString();
  // The hook of `withoutTracking` may have ended git after that.
  const moved = said.match(/^[ +*=-]\t/gm) ?? [];
  if (run.exitCode === 0 || moved.length === moves.length) return true;
  if (/^!.*\((stale info|fetch first|already exists|needs force)\)/m.test(said)) return false;
  if (/cannot lock ref|failed to update ref|incorrect old value/i.test(`${said}${run.stderr}`)) return false;
  const refused = /^!.*\[remote rejected\] \((.*)\)$/m.exec(said)?.[1];
  if (/does not support --atomic/.test(run.stderr))
    throw new AgtError(`"${remote}" cannot move two refs at once, as a push of a session does (--atomic)`, {
      hints: [BUNDLE],
    });
  if (refused === undefined) throw cannotReach(remote, run.stderr);
  const reasons = run.stderr.split('\n').filter((line) => line.startsWith('remote: '));
  throw new AgtError(`"${remote}" refuses sessions: ${refused}`, {
    exitCode: EXIT.failed,
    hints: [...reasons.slice(0, 3), `it must allow pushes to ${SHARED}*; or ${BUNDLE}`],
  });
}

const BUNDLE = 'write the session into a file: agt session bundle ID FILE';

/** The slash of `origin/` makes none. */
const isAddress = (remote: string) => /[/:]./.test(remote);

/** Whether git has a remote of this name, or it is an address. */
export async function isRemote(git: Git, remote: string): Promise<boolean> {
  return isAddress(remote) || (await gitLines(git, ['remote'])).includes(remote);
}

/** `last`: where the session was pushed last. If that is gone, the remote of `agt.push`, else the only one, else origin. */
export async function chooseRemote(
  { git, settings }: Repository,
  given: string | undefined,
  last = '',
): Promise<string> {
  if (given !== undefined) return given;
  const remotes = await gitLines(git, ['remote']);
  const { push } = settings;
  const known = [last, push].find((one) => isAddress(one) || remotes.includes(one));
  if (known !== undefined) return known;
  const [only] = remotes;
  if (push !== '')
    throw new AgtError(`agt.push names "${push}", and this repository has no such remote`, {
      hints: [only === undefined ? `add it: git remote add ${push} URL` : `agt config set agt.push ${only}`],
    });
  if (only === undefined) throw noRemote(remotes);
  if (remotes.length === 1 || remotes.includes('origin')) return remotes.length === 1 ? only : 'origin';
  throw new AgtError('this repository has several remotes, and no setting chooses one', {
    exitCode: EXIT.usage,
    hints: [`give one of ${remotes.join(', ')}, or choose it once: agt config set agt.push ${only}`],
  });
}
