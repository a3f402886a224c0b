/** An acceptance of a session in place, compared with what git would merge in a clean clone. */
import { isInProgress, isUnmerged, repositoriesIn } from '../checkout-facts.ts';
import { differences } from '../compare.ts';
import type { Facts } from '../facts.ts';
import { changedPaths, dirtyPaths, overlap } from '../paths.ts';
import { ok, REAL_GIT, run } from '../programs.ts';
import { chosen, cleanCheckout, commitOf, mergeBase, otherThanGits, squashed } from '../squash.ts';
import { zeroed } from '../worktree.ts';
import { ended, endOf, IN_THE_WAY, type Last, lookLast, report } from './end.ts';
import type { InPlaceLife, Stay } from './in-place-life.ts';
import { faultsOf } from './returned.ts';

/** @returns whether the session has ended. */
export function acceptAct(life: InPlaceLife, stay: Stay, keep: boolean): boolean {
  const options = [...(life.random.chance(0.15) ? ['--committed-only'] : []), ...(keep ? ['--keep'] : [])];
  const outcome = accept(life, stay, options, []);
  if (!(outcome instanceof Set) || outcome.size === 0 || life.random.chance(0.3)) return outcome === true;
  // As the hint says.
  return accept(life, stay, options, [...outcome]) === true;
}

/** @returns whether the session has ended; or the ignored files of the user that are in the way. */
function accept(
  life: InPlaceLife,
  stay: Stay,
  options: readonly string[],
  excluded: readonly string[],
): boolean | Set<string> {
  const { root } = life;
  const last = lookLast(life, stay);
  const head = last.commits[0] as string;
  const own = ownRepositories(root, stay, last.final);
  const work = commitOf({
    worktree: root,
    notTheirs: own,
    committedOnly: options.includes('--committed-only'),
  });
  const isOn = (commit: string, tip: string) =>
    life.user.ask(['merge-base', '--is-ancestor', commit, tip]) !== undefined;
  const isAgain = stay.landed !== undefined && !isOn(stay.landed.commit, head);
  const base = isAgain ? (stay.landed?.source as string) : mergeBase(root, last.main, head);
  const theirs = work === undefined ? undefined : without(root, { base, work, head, excluded, own });
  const expected =
    theirs === undefined ? undefined : squashed(root, 'main', theirs, { base: isAgain ? base : undefined });
  const outcome = life.agt('accept', stay.id, ...options, ...excluded.map((path) => `--exclude=${path}`));
  const output = `${outcome.stdout}${outcome.stderr}`;
  const main = life.git('rev-parse', 'main');
  if (main === last.main) {
    life.counts.refused++;
    const ignored =
      theirs === undefined
        ? []
        : treePaths(root, theirs).filter((path) => overlap([path], [...stay.ignored]));
    refusedRightly(life, stay, { last, work, expected, output, ignored, excluded });
    return /ignored files of yours/.test(output) ? new Set(ignored.filter(isPlain)) : false;
  }
  life.counts.accepted++;
  const tree = life.git('rev-parse', 'main^{tree}');
  if (tree !== expected) {
    const why = otherThanGits(root, expected, tree);
    throw new Error(`main has another tree than git merge --squash makes:\n${why}`);
  }
  const author = life.git('log', '-1', '--format=%an <%ae>', 'main');
  if (author !== 'Ann Author <ann@example.com>') throw new Error(`the commit is by ${author}`);
  if (options.includes('--keep')) {
    life.counts.kept++;
    stay.landed = { commit: main, source: theirs as string };
    const isMain = (key: string) => key === 'ref refs/heads/main';
    report(differences(last.final, life.look(), isMain), 'accept --keep changed the checkout');
    return false;
  }
  if (life.stateOf(stay.id) !== 'accepted') throw new Error(`accepted, but the session goes on: ${output}`);
  ended(life, stay, last, output);
  if (life.random.chance(0.4) && !IN_THE_WAY.test(output)) unaccept(life, stay, last, output);
  return true;
}

/** A path that is also a pattern for itself alone. */
function isPlain(path: string): boolean {
  return /^[\w./ -]+$/.test(path);
}

interface Chosen {
  readonly base: string;
  readonly work: string;
  readonly head: string;
  readonly excluded: readonly string[];
  readonly own: ReadonlySet<string>;
}

/** A pattern without a slash is for names in every directory, and a directory stands for all that is in it. */
function without(root: string, { base, work, head, excluded, own }: Chosen): string {
  if (excluded.length + own.size === 0) return work;
  const isLeft = (path: string) =>
    own.has(path) ||
    excluded.some((one) =>
      one.includes('/') ? `${path}/`.startsWith(`${one}/`) : path.split('/').includes(one),
    );
  const tree = chosen(root, base, work, (path) => !isLeft(path));
  return ok(REAL_GIT, ['commit-tree', '-p', head, '-m', 'chosen', tree], root).trim();
}

function treePaths(root: string, tree: string): string[] {
  return zeroed(ok(REAL_GIT, ['ls-tree', '-r', '-z', '--name-only', '--full-tree', tree], root));
}

/** Repositories inside that the agent has not made a submodule, and submodules that are as they were. */
function ownRepositories(root: string, { start, base }: Stay, final: Facts): Set<string> {
  const paths = [...start.keys()].flatMap((key) => /^repo (.*) HEAD$/s.exec(key)?.[1] ?? []);
  const commit = (facts: Facts, path: string) => {
    const head = facts.get(`repo ${path} HEAD`) ?? '';
    return facts.get(`repo ${path} ref ${head.replace('ref: ', '')}`) ?? head;
  };
  const args = ['config', '--file', '.gitmodules', '--get-regexp', '\\.path$'];
  const declared = new Set(
    run(REAL_GIT, args, root)
      .stdout.split('\n')
      .map((line) => line.slice(line.indexOf(' ') + 1)),
  );
  const isTracked = (path: string) => ok(REAL_GIT, ['ls-tree', base, '--', path], root).startsWith('160000 ');
  // Out of the index: git deletes it if it is ignored, or takes the file that the agent has staged.
  const isDropped = (path: string) =>
    isTracked(path) && !(final.get(`index 0 ${path}`) ?? '').includes('160000 ');
  const isOwn = (path: string) =>
    !isDropped(path) &&
    (commit(start, path) === commit(final, path) || !(isTracked(path) || declared.has(path)));
  return new Set(paths.filter(isOwn));
}

interface Refusal {
  readonly last: Last;
  /** Undefined where git cannot add a repository without a commit. */
  readonly work: string | undefined;
  readonly expected: string | undefined;
  readonly output: string;
  /** Paths of the work that are ignored files of the user. */
  readonly ignored: readonly string[];
  readonly excluded: readonly string[];
}

/** Nothing has changed, and the reason is true. */
function refusedRightly(life: InPlaceLife, stay: Stay, refusal: Refusal): void {
  const { last, work, expected, output, ignored, excluded } = refusal;
  const { final } = last;
  report(differences(final, life.look()), 'a refused accept changed something');
  if (life.stateOf(stay.id) !== 'active') throw new Error(`refused, but the session has ended: ${output}`);
  const tree = life.git('rev-parse', 'main^{tree}');
  const agents = repositoriesIn(final).filter((path) => !stay.start.has(`repo ${path} .git`));
  const isTrue =
    (/conflicts with/.test(output) && expected === undefined) ||
    (/nothing to accept/.test(output) && (expected === tree || work === undefined)) ||
    (/ignored files of yours would be replaced/.test(output) && (ignored.length > 0 || work === undefined)) ||
    repositoriesIn(stay.start).some((path) =>
      output.includes(`a repository of yours would be replaced (${path}`),
    ) ||
    (/matches no changed file|no changed file matches|only a part of a file/.test(output) &&
      excluded.length > 0) ||
    (/git repository inside|nested repository/.test(output) && agents.length > 0) ||
    (/in progress/.test(output) && isInProgress(final)) ||
    (/conflicts in its index/.test(output) && isUnmerged(final)) ||
    (/which lacks .* of its work branch/.test(output) &&
      final.get('HEAD') !== `ref: refs/heads/agt/${stay.id}`);
  if (!isTrue) throw new Error(`accept refuses for no reason: ${output}`);
}

/**
 * A change of the user's that landed in the same way, a mark on a file that the accept replaced, other ends of lines: git
 * brings such a path back as it writes the commit.
 */
function withoutLanded(
  life: InPlaceLife,
  { start, base, ignored }: Stay,
  accepted: string,
  after: Facts,
): Facts {
  const landed = changedPaths(life.root, base, accepted);
  // What the user's rules ignored at the start stays as the agent left it, whatever git says of it now.
  const isAgents = (line: string) =>
    ignored.has(line.slice('? '.length)) &&
    start.get(`file ${line.slice('? '.length)}`) !== after.get(`file ${line.slice('? '.length)}`);
  const status = zeroed(after.get('status') ?? '').filter(
    (line) => !(line.startsWith('? ') && isAgents(line)),
  );
  const facts = new Map([...start, ['status', status.map((line) => `${line}\0`).join('')]]);
  const clean = cleanCheckout(life.root, 'main');
  const set = (key: string, text: string | undefined) =>
    text === undefined ? facts.delete(key) : facts.set(key, text);
  for (const path of landed) {
    for (const key of [`file ${path}`, `index 0 ${path}`]) set(key, clean.get(key));
    // git leaves the directories of a submodule, and removes one that it has emptied.
    for (let above = path; above !== ''; above = above.slice(0, Math.max(0, above.lastIndexOf('/')))) {
      const left = after.get(`file ${above}`);
      const isEmptied =
        left === undefined && ![...facts.keys()].some((key) => key.startsWith(`file ${above}/`));
      if (left?.startsWith('directory') || isEmptied) set(`file ${above}`, left);
    }
  }
  return facts;
}

/** Everything is as before the session, and the session is in a sandbox of its own. */
function unaccept(life: InPlaceLife, stay: Stay, last: Last, accepted: string): void {
  const before = life.look();
  // The rules that landed go: what they ignored stays.
  const ignored = new Set([...last.ignored, ...life.untracked().ignored]);
  const acceptedMain = life.git('rev-parse', 'main');
  const outcome = life.agt('session', 'unaccept', stay.id);
  if (outcome.exitCode !== 0) {
    report(differences(before, life.look()), 'a refused unaccept changed something');
    const changed = changedPaths(life.root, acceptedMain, last.main);
    if (
      !(/would be overwritten/.test(outcome.stderr) && overlap(changed, [...dirtyPaths(before), ...ignored]))
    )
      throw new Error(`unaccept failed: ${outcome.stderr}`);
    return;
  }
  life.counts.unaccepted++;
  const main = life.git('rev-parse', 'main');
  if (main !== last.main) throw new Error(`main is not back`);
  const after = life.look();
  if (last.main === stay.base) {
    const start = withoutLanded(life, stay, acceptedMain, after);
    const end = endOf(
      life,
      { ...stay, start },
      { ...last, final: before, ignored },
      after,
      accepted + outcome.stderr,
    );
    report(
      faultsOf({ ...end, committed: new Set() }),
      'after unaccept the user finds something else than before',
    );
  }
  life.agtOk('session', 'remove', stay.id, '--force');
}
