/** Removes a session and brings it back, while the user does something with its branch. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stays } from './compare.ts';
import { readRefs } from './facts.ts';
import type { Life, LifeSession } from './life.ts';
import { ok, REAL_GIT, run } from './programs.ts';
import { commitsStay, usersThings, usersThingsStay } from './promises.ts';
import { comeBack } from './restore-acts.ts';

/** Entries that may lie in the session folder beside the three that agt makes. */
const BESIDE = ['beside', 'beside-tree'];

export function removeAct(life: Life, session: LifeSession): void {
  const before = session.facts;
  const users = usersThings(life, life.refs);
  const beside = BESIDE.filter((name) => existsSync(join(session.folder, name)));
  const { exitCode, stderr } = life.agt(['session', 'remove', session.id]);
  if (exitCode !== 0 && beside.length > 0) {
    life.look(session);
    life.takeIn(session, before);
    stays(session, before, 'a refused removal');
    return;
  }
  if (exitCode !== 0) throw new Error(`session remove: ${exitCode}\n${stderr}`);
  session.isEnded = true;
  if (existsSync(session.folder)) throw new Error(`${session.folder} is still there`);
  life.refs = readRefs(life.repository);
  life.takeIn(session, before);
  for (const name of beside) isInSnapshot(life, session, name);
  usersThingsStay(users, usersThings(life, life.refs));
  commitsStay(life, [before.get('HEAD commit'), before.get('work branch')], 'after a removal');
  if (life.random.chance(0.2)) life.agtOk(['gc']);
  comeBackMeanwhile(life, session);
}

function isInSnapshot(life: Life, session: LifeSession, name: string): void {
  const listed = ok(REAL_GIT, ['ls-tree', '--name-only', life.tip(session)], life.repository);
  if (!listed.split('\n').includes(name)) throw new Error(`a removal deleted ${name}, which no snapshot has`);
}

/** The user may have added a commit to the work branch, or may have it checked out. */
function comeBackMeanwhile(life: Life, session: LifeSession): void {
  const { random, repository } = life;
  if (random.chance(0.3)) addCommit(life, session);
  const isTaken = random.chance(0.2);
  const branch = session.workBranch.replace('refs/heads/', '');
  if (isTaken) run(REAL_GIT, ['checkout', '-q', branch], repository);
  comeBack(life, session, isTaken ? [session.workBranch] : []);
  if (isTaken) ok(REAL_GIT, ['checkout', '-q', 'main'], repository);
}

function addCommit(life: Life, { workBranch }: LifeSession): void {
  const git = (...args: string[]) => ok(REAL_GIT, args, life.repository).trim();
  if (!life.refs.has(workBranch)) return;
  const commit = git('commit-tree', '-m', 'on top', '-p', workBranch, `${workBranch}^{tree}`);
  git('update-ref', workBranch, commit);
  life.refs = new Map([...life.refs, [workBranch, commit]]);
}
