/** Runs random git commands in a sandbox through git mode, and checks what the guard promises. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterRestore, compareWith, surroundings } from './expected.ts';
import type { Facts } from './facts.ts';
import { type GitCommand, GitScene, type GitStep } from './git-scene.ts';
import { HISTORY_STEPS } from './git-steps-history.ts';
import { INDEX_STEPS } from './git-steps-index.ts';
import { gitDirectory, type Life, type LifeSession } from './life.ts';
import { GIT_MODE, REAL_GIT, run } from './programs.ts';
import { commitsStay } from './promises.ts';
import { restoreTo } from './restore-acts.ts';

const GIT_STEPS = [...INDEX_STEPS, ...HISTORY_STEPS];

/** The guard keeps commits that lose their name by these. */
const TAKES_NAMES =
  /^(branch -[DfmC]|checkout -B|switch -C|tag -a|tag -d|update-ref -d|stash (pop|drop|clear|branch)|reflog|gc --prune|prune)/;
/** A patch changes files without a capture; git refuses where it does not apply. */
const CHANGES_UNGUARDED = /^apply a patch/;
/** How often a guarded command is taken back at once. */
const TAKEN_BACK = 0.15;

export function gitAct(life: Life, session: LifeSession): void {
  const step = life.random.weighted(GIT_STEPS);
  const commands = step.make(sceneOf(life, session));
  for (const command of commands ?? []) runGuarded(life, session, step, command);
}

function sceneOf(life: Life, session: LifeSession): GitScene {
  const ask = (args: readonly string[], input?: string | Buffer) => {
    const { exitCode, stdout } = run(REAL_GIT, args, session.sandbox, input);
    return exitCode === 0 ? stdout.trim() : undefined;
  };
  return new GitScene(life.random, session.sandbox, session.facts, life.refs, ask);
}

function runGuarded(life: Life, session: LifeSession, step: GitStep, { args, input, env }: GitCommand): void {
  const before = session.facts;
  const tip = life.tip(session);
  const named = TAKES_NAMES.test(step.name) ? namedCommits(life, session, step) : [];
  const outcome = run(GIT_MODE, args, session.sandbox, input, env);
  life.note(
    `  ${session.id}: git ${args.map((arg) => JSON.stringify(arg)).join(' ')} -> ${outcome.exitCode} ${outcome.stderr}`,
  );
  if (outcome.stderr.includes('warning: agt:')) throw new Error(`the guard failed: ${outcome.stderr}`);
  life.look(session);
  const wasCaptured = life.tip(session) !== tip;
  life.takeIn(session, before);
  if (wasCaptured) life.counts.guarded++;
  nothingIsLost(life, session, step, before);
  const stillNamed = named.length === 0 ? [] : namedCommits(life, session, step);
  const lostTheirName = named.filter((commit) => !stillNamed.includes(commit));
  commitsStay(life, lostTheirName, `after git ${args.join(' ')}`);
  const last = session.chain.at(-1);
  if (!wasCaptured || last === undefined || !life.random.chance(TAKEN_BACK)) return;
  restoreTo(life, session, last.commit);
  const problems = compareWith(afterRestore(before, surroundings(life, session)), session.facts);
  if (problems.length > 0)
    throw new Error(`git ${args.join(' ')} cannot be taken back:\n${problems.join('\n')}`);
}

/** The content of a file is still there, or under its new name, or the last snapshot has it. */
function nothingIsLost(life: Life, session: LifeSession, { name }: GitStep, before: Facts): void {
  if (CHANGES_UNGUARDED.test(name)) return;
  const snapshot = life.snapshots.get(session.chain.at(-1)?.commit ?? '');
  const renamed = new Set(name === 'mv' ? session.facts.values() : []);
  const lost = [...before].filter(
    ([key, text]) =>
      key.startsWith('file ') &&
      !text.startsWith('directory') &&
      session.facts.get(key) !== text &&
      !renamed.has(text) &&
      snapshot?.get(key) !== text &&
      !isInHead(session, key, text),
  );
  if (lost.length > 0) throw new Error(`no snapshot has what git destroyed:\n${lost.join('\n')}`);
}

/** A commit that ends a merge brings the work back that the merge had set aside. */
function isInHead({ sandbox }: LifeSession, key: string, text: string): boolean {
  const path = key.replace(/^file sandbox\//, '');
  return run(REAL_GIT, ['show', `HEAD:${path}`], sandbox).stdout === text.replace(/^file \d+ /, '');
}

/** The commits that the step may leave without a name: those of refs, of stashes, or of the reflog of HEAD. */
function namedCommits(life: Life, session: LifeSession, { name }: GitStep): string[] {
  const ofRefs = [...life.refs]
    .filter(([ref]) => /^refs\/(heads|tags)\//.test(ref))
    .map(([, commit]) => commit);
  const stashLog = join(gitDirectory(session.sandbox), 'logs/refs/worktree/stash');
  const logs = [
    ...(name.startsWith('stash') ? [stashLog] : []),
    ...(/^(reflog expire|gc|prune)/.test(name)
      ? [stashLog, join(gitDirectory(session.sandbox), 'logs/HEAD')]
      : []),
  ];
  const ofLogs = logs.flatMap((path) => readLines(path)).map((line) => line.split(' ')[1] as string);
  const all = [...new Set([...ofRefs, ...ofLogs])].filter((oid) => !/^0+$/.test(oid));
  const { stdout } = run(REAL_GIT, ['cat-file', '--batch-check'], life.repository, `${all.join('\n')}\n`);
  return stdout.split('\n').flatMap((line) => /^([0-9a-f]{40}) commit/.exec(line)?.[1] ?? []);
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'latin1')
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return [];
  }
}
