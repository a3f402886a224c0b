/** Accept, reject and unaccept, each compared with git's own merge and with what the user had. */
import { isInProgress, isUnmerged, readCheckout } from '../checkout-facts.ts';
import { differences } from '../compare.ts';
import { commitsAreKept, readContent, snapshotHolds } from '../held.ts';
import { changedPaths, overlap } from '../paths.ts';
import { ok, REAL_GIT } from '../programs.ts';
import { chosen, cleanCheckout, commitOf, mergeBase, otherThanGits, picked, squashed } from '../squash.ts';
import { zeroed } from '../worktree.ts';
import { alreadyThere, faultsAfter } from './follows.ts';
import type { LandingLife, Session } from './landing-life.ts';
import { ownPaths, refusedRightly } from './refused-accepts.ts';
import { look, nothingChanged, report } from './scene.ts';

interface Way {
  readonly weight: number;
  readonly options: readonly string[];
}

const WAYS: readonly Way[] = [
  { weight: 6, options: [] },
  { weight: 1, options: ['--keep'] },
  { weight: 1, options: ['--keep-commits'] },
  { weight: 0.7, options: ['--committed-only'] },
  { weight: 0.7, options: ['--exclude', 'src'] },
  { weight: 0.7, options: ['--onto', 'side'] },
  { weight: 0.7, options: ['--commits', 'HEAD'] },
  { weight: 0.7, options: ['--untracked=none'] },
];

export function acceptAct(life: LandingLife, session: Session): void {
  const { random, root } = life;
  const { id, sandbox } = session;
  const words = [...random.weighted(WAYS).options];
  const before = look(life, session);
  if (words[0] === '--commits') words[1] = before.commits[0] as string;
  const branch = words[0] === '--onto' ? 'side' : 'main';
  const from = life.commit(branch);
  const expected = expectedTree(life, session, { words, branch, from });
  const source = before.commits[0] as string;
  if (random.chance(0.3)) {
    life.agt('accept', id, ...words, '--dry-run');
    nothingChanged(life, session, before, 'accept --dry-run');
  }
  const outcome = life.agt('accept', id, ...words);
  const output = `${outcome.stdout}${outcome.stderr}`;
  const to = life.commit(branch);
  if (to === from) {
    nothingChanged(life, session, before, 'a refused accept');
    refusedRightly(life, before, { words, expected, from, output, session });
    return;
  }
  life.counts.accepted++;
  const tree = life.git('rev-parse', `${to}^{tree}`);
  if (tree !== expected)
    throw new Error(
      `${branch} has another tree than git makes:\n${otherThanGits(life.root, expected, tree)}`,
    );
  const [author, parents] = life.git('log', '-1', '--format=%an <%ae>%n%P', to).split('\n');
  if (author !== 'Ann Author <ann@example.com>') throw new Error(`the commit is by ${author}`);
  // The agent has the user's name here, and a branch may follow the agent's own commit.
  if (words[0] !== '--keep-commits' && parents?.split(' ')[0] !== from && !before.commits.includes(to))
    throw new Error(`the commit is on ${parents}`);
  report(
    faultsAfter({ root, branch, from, to }, before.user, readCheckout(root)),
    'after accept the user finds something else',
  );
  snapshotHolds(root, id, before.content);
  commitsAreKept(root, before.commits);
  const isKept = words[0] === '--keep';
  const hasLeft = /^left out (?!\d+ paths? that git ignores)/m.test(output) || words[0] === '--commits';
  if (!hasLeft) session.family.unshift({ id, branch, commit: to, source });
  if (isKept)
    report(
      differences(before.sandbox, readCheckout(sandbox), (key) => key.startsWith('ref ')),
      'accept --keep changed the sandbox',
    );
  const state = life.stateOf(id);
  if (state !== (isKept ? 'active' : 'accepted')) throw new Error(`the session is ${state}: ${output}`);
  if (isKept)
    session.landed = {
      commit: to,
      source: commitOf({ worktree: sandbox, notTheirs: new Set(), committedOnly: false }) ?? '',
    };
  else {
    life.leave();
    const changed = changedPaths(root, from, to);
    const isCheckedOut = before.user.get('HEAD') === `ref: refs/heads/${branch}`;
    const clean = cleanCheckout(root, branch);
    const own = isCheckedOut ? alreadyThere({ before: before.user, changed, clean }) : [];
    life.last = { id, branch, from, commit: to, content: before.content, own };
  }
}

interface Wanted {
  readonly words: readonly string[];
  readonly branch: string;
  readonly from: string;
}

/** Undefined if git reports conflicts, or cannot store the sandbox. */
function expectedTree(
  life: LandingLife,
  session: Session,
  { words, branch, from }: Wanted,
): string | undefined {
  const { root } = life;
  const { sandbox, landed } = session;
  if (words[0] === '--commits') return picked(root, branch, words[1] as string);
  const committedOnly = words[0] === '--committed-only';
  const trackedOnly = words[0] === '--untracked=none';
  const head = ok(REAL_GIT, ['rev-parse', 'HEAD'], sandbox).trim();
  const isOn = (commit: string, tip: string) =>
    life.user.ask(['merge-base', '--is-ancestor', commit, tip]) !== undefined;
  const isAgain = landed !== undefined && isOn(landed.commit, from) && !isOn(landed.commit, head);
  // What has landed once is no new file, though the sandbox does not track it.
  let theirs = commitOf({
    worktree: sandbox,
    notTheirs: new Set(),
    committedOnly,
    trackedOnly: trackedOnly && !isAgain,
  });
  if (theirs === undefined) return undefined;
  // The commits with which the session began come along only if all of them are kept.
  const had = hadOf(life, session, { branch, from, head });
  const synced = mergeBase(root, 'main', head);
  const starts = words[0] === '--keep-commits' ? [] : [synced, ...life.startsOf(session.id)];
  const isThere = (commit: string) => [from, ...had].some((tip) => isOn(commit, tip));
  const dropped = starts.filter((commit) => isOn(commit, head) && !isThere(commit));
  const start = dropped.find((commit) => dropped.every((one) => one === commit || !isOn(commit, one)));
  const ownBase = isAgain ? landed.source : start;
  const base = ownBase ?? mergeBase(root, head, from, ...had);
  if (trackedOnly && isAgain) {
    const tracked = new Set(zeroed(ok(REAL_GIT, ['ls-files', '-z'], sandbox)));
    const landedPaths = new Set(zeroed(ok(REAL_GIT, ['ls-tree', '-r', '-z', '--name-only', base], root)));
    const tree = chosen(root, base, theirs, (path) => tracked.has(path) || landedPaths.has(path));
    theirs = ok(REAL_GIT, ['commit-tree', '-p', head, '-m', 'chosen', tree], root).trim();
  }
  const content = theirs;
  const takes = (path: string) =>
    !path.startsWith('src/') && path !== 'src' && !path.includes('/src/') && !path.endsWith('/src');
  const landing = (start: string) =>
    words[0] === '--exclude'
      ? ok(REAL_GIT, ['commit-tree', '-p', head, '-m', 'x', chosen(root, start, content, takes)], root).trim()
      : content;
  const tree = squashed(root, branch, landing(base), { base: ownBase, had });
  if (had.length > 0 && tree !== undefined && squashed(root, branch, landing(base)) === undefined)
    life.counts.goneOn++;
  if (tree !== undefined || ownBase !== undefined) return tree;
  // Both had the content of the sandbox at the fork, and the other one has landed with that.
  const apart = committedOnly || trackedOnly ? [] : life.forks.filter(({ ids }) => ids.includes(session.id));
  for (const { ids, start } of apart) {
    const isThere = session.family.some(
      (one) =>
        one.id !== session.id && ids.includes(one.id) && one.branch === branch && isOn(one.commit, from),
    );
    const shared = isThere ? squashed(root, branch, landing(start), { base: start }) : undefined;
    if (shared !== undefined) return shared;
  }
  // Where the branch has the commits in another form, the rest lands alone.
  const isHome = squashed(root, branch, head, { had }) === life.git('rev-parse', `${from}^{tree}`);
  return isHome ? squashed(root, branch, landing(base), { base: head }) : undefined;
}

/** Commits of which all work has landed with a fork, or with what was forked, unless a sync has brought that. */
export function hadOf(
  { user }: LandingLife,
  { id, family }: Session,
  { branch, from, head }: { branch: string; from: string; head: string },
): string[] {
  const isOn = (commit: string, tip: string) =>
    user.ask(['merge-base', '--is-ancestor', commit, tip]) !== undefined;
  const there = family.filter((one) => one.id !== id && one.branch === branch && isOn(one.commit, from));
  const newest = there.filter((one, i) => there.findIndex((other) => other.id === one.id) === i);
  return newest.flatMap(({ commit, source }) => (isOn(commit, head) ? [] : source));
}

export function rejectAct(life: LandingLife, session: Session): void {
  const { id } = session;
  const before = look(life, session);
  const outcome = life.agt('reject', id);
  const output = `${outcome.stdout}${outcome.stderr}`;
  if (life.stateOf(id) === 'active') {
    nothingChanged(life, session, before, 'a refused reject');
    const inside = [...before.sandbox.keys()].some((key) => key.startsWith('repo '));
    if (!(inside && /cannot capture/.test(output))) throw new Error(`reject refuses: ${output}`);
    life.counts.refused++;
    life.agtOk('reject', id, '--force');
  }
  life.counts.rejected++;
  life.leave();
  report(differences(before.user, readCheckout(life.root)), 'reject changed what the user has');
  snapshotHolds(life.root, id, before.content);
  commitsAreKept(life.root, before.commits);
}

export function unacceptAct(life: LandingLife): void {
  const { last, root } = life;
  if (last === undefined) return;
  const before = readCheckout(root);
  const tip = life.commit(last.branch);
  const outcome = life.agt('session', 'unaccept', last.id);
  if (outcome.exitCode !== 0) {
    report(differences(before, readCheckout(root)), 'a refused unaccept changed what the user has');
    const changed = changedPaths(root, last.commit, last.from);
    const isTrue =
      (/has newer commits|does not have the commit|has taken commit/.test(outcome.stderr) &&
        tip !== last.commit) ||
      (/would be overwritten/.test(outcome.stderr) && overlap(changed, ownPaths(before))) ||
      (/in progress/.test(outcome.stderr) && isInProgress(before)) ||
      (/conflicts in its index/.test(outcome.stderr) && isUnmerged(before));
    if (!isTrue) throw new Error(`unaccept refuses for no reason: ${outcome.stderr}`);
    life.counts.refused++;
    if (tip !== last.commit) life.last = undefined;
    return;
  }
  life.counts.unaccepted++;
  const to = life.commit(last.branch);
  if (to !== last.from) throw new Error(`${last.branch} is not back`);
  report(
    faultsAfter({ root, branch: last.branch, from: tip, to }, before, readCheckout(root), last.own),
    'after unaccept the user finds something else',
  );
  const sandbox = `${root}.agt/sessions/${last.id}/sandbox`;
  const content = readContent(sandbox, readCheckout(sandbox));
  const lost = [...last.content].filter(([path, what]) => content.get(path) !== what);
  if (lost.length > 0) throw new Error(`unaccept does not bring back ${JSON.stringify(lost)}`);
  life.last = undefined;
  life.agtOk('session', 'remove', last.id, '--force');
}
