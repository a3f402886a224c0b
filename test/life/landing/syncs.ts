/** `agt sync`, compared with git's own merge or rebase in a clean clone, and with what the agent had uncommitted. */
import { isInProgress, isUnmerged, readCheckout } from '../checkout-facts.ts';
import { differences } from '../compare.ts';
import type { Facts } from '../facts.ts';
import { commitsAreKept, snapshotHolds } from '../held.ts';
import { changedPaths, dirtyPaths, overlap } from '../paths.ts';
import { ok, REAL_GIT } from '../programs.ts';
import { brought, withParents } from '../squash.ts';
import { zeroed } from '../worktree.ts';
import { hadOf } from './accepts.ts';
import type { LandingLife, Session } from './landing-life.ts';
import { ownPaths } from './refused-accepts.ts';
import { look, nothingChanged, report, type Scene } from './scene.ts';

export function syncAct(life: LandingLife, session: Session): void {
  const { random, root } = life;
  const { id, sandbox } = session;
  const way = random.chance(0.35) ? 'rebase' : 'merge';
  const options = way === 'rebase' ? ['--rebase'] : [];
  const before = look(life, session);
  const head = before.commits[0] as string;
  const main = life.commit('main');
  if (random.chance(0.3)) {
    life.agt('sync', id, ...options, '--dry-run');
    nothingChanged(life, session, before, 'sync --dry-run');
  }
  const expected = brought(root, { way, head, branch: main });
  // It may have commits that main has dropped since the other session synced them.
  const isRebasedFork = way === 'rebase' && life.recordOf(id).from !== null;
  const outcome = life.agt('sync', id, ...options);
  const output = `${outcome.stdout}${outcome.stderr}`;
  const checkedOut = before.sandbox.get('HEAD')?.replace(': ', ' ');
  report(
    differences(before.user, readCheckout(root), (key) => key === checkedOut),
    'sync changed what the user has',
  );
  const after = readCheckout(sandbox);
  if (outcome.exitCode !== 0 && (hasConflicts(before.sandbox) || !hasConflicts(after))) {
    report(differences(before.sandbox, after), 'a refused sync changed the sandbox');
    life.note(`  refused: ${output.split('\n')[0]}`);
    refusedRightly(before, { output, way, id, changed: changedPaths(root, head, main) });
    life.counts.refused++;
    return;
  }
  if (differences(before.sandbox, after).length > 0) snapshotHolds(root, id, before.content);
  commitsAreKept(root, before.commits);
  repositoriesStay(before.sandbox, after);
  if (outcome.exitCode !== 0) {
    life.counts.syncConflicts++;
    if (expected !== undefined && !isRebasedFork)
      throw new Error(`sync has conflicts where git has none: ${output}`);
    solve(life, session, before);
    return;
  }
  life.counts.synced++;
  if (session.landed !== undefined || isRebasedFork) return;
  const had = expected === undefined ? hadOf(life, session, { branch: 'main', from: main, head }) : [];
  const wanted = expected ?? brought(root, { way, head, branch: withParents(root, main, had) });
  const tree = ok(REAL_GIT, ['rev-parse', 'HEAD^{tree}'], sandbox).trim();
  if (tree !== wanted) throw new Error(`the sandbox has another tree than git's ${way} makes: ${output}`);
  report(ownWork(before.sandbox, after), 'sync changed uncommitted work of the agent');
}

function hasConflicts(facts: Facts): boolean {
  return isUnmerged(facts) || isInProgress(facts);
}

/** Files that were not committed, or that git ignores: the same bytes. */
function ownWork(before: Facts, after: Facts): string[] {
  const tracked = new Set([...before.keys()].flatMap((key) => /^index \d (.*)$/s.exec(key)?.[1] ?? []));
  const dirty = new Set(dirtyPaths(before));
  const isOwn = (key: string) => {
    const path = key.slice('file '.length);
    return (
      key.startsWith('file ') &&
      (dirty.has(path) || !tracked.has(path)) &&
      !before.get(key)?.startsWith('directory')
    );
  };
  return differences(
    new Map([...before].filter(([key]) => isOwn(key))),
    after,
    (key) => !isOwn(key) || !before.has(key),
  );
}

/** No command lets go a repository of the agent. */
function repositoriesStay(before: Facts, after: Facts): void {
  const gone = [...before.keys()].filter(
    (key) => /^repo .* (HEAD|ref .*)$/s.test(key) && after.get(key) !== before.get(key),
  );
  report(gone, 'a repository inside the sandbox is gone or another one');
}

interface Refusal {
  readonly output: string;
  readonly way: 'merge' | 'rebase';
  readonly id: string;
  /** Between HEAD of the sandbox and the branch. */
  readonly changed: readonly string[];
}

/** The reason is true. git refuses to rebase with any uncommitted change, and to merge with any staged one. */
function refusedRightly({ sandbox }: Scene, { output, way, id, changed }: Refusal): void {
  const head = sandbox.get('HEAD');
  const lines = zeroed(sandbox.get('status') ?? '').filter((line) => line.startsWith('1 '));
  const blocking = lines.filter((line) => way === 'rebase' || !line.startsWith('1 .'));
  const isTrue =
    (/would be overwritten|(did|does) not (merge|rebase)|merges only if/.test(output) &&
      (blocking.length > 0 || overlap(changed, ownPaths(sandbox)))) ||
    (/in progress/.test(output) && isInProgress(sandbox)) ||
    (/conflicts in its index/.test(output) && isUnmerged(sandbox)) ||
    (/rebases only the work branch/.test(output) && head !== `ref: refs/heads/agt/${id}`);
  if (!isTrue) throw new Error(`sync refuses for no reason: ${output}`);
}

/** The agent goes back, or solves the conflicts. */
function solve(life: LandingLife, session: Session, before: Scene): void {
  const { random } = life;
  const { id, sandbox, agent } = session;
  if (random.chance(0.6)) {
    const { exitCode, stderr } = life.agt('undo', id);
    const after = readCheckout(sandbox);
    const isOther = (key: string) => key.startsWith('git ') || key.startsWith('repo ') || key === 'status';
    report(
      differences(before.sandbox, after, isOther),
      `undo of a sync (${exitCode}: ${stderr}) does not bring the sandbox back`,
    );
    return;
  }
  agent.git(['add', '-A']);
  if (agent.git(['commit', '-q', '--no-edit']).exitCode !== 0) agent.git(['merge', '--abort']);
  for (let i = 0; i < 9 && agent.ask(['rev-parse', '--verify', '-q', 'REBASE_HEAD']) !== undefined; i++) {
    agent.git(['add', '-A']);
    if (agent.git(['-c', 'core.editor=true', 'rebase', '--continue']).exitCode !== 0)
      agent.git(['rebase', '--skip']);
  }
  if (hasConflicts(readCheckout(sandbox))) agent.git(['rebase', '--abort']);
}
