/** Steps of a life of landing: those of a user, of an agent, and commands of agt. */
import { readCheckout } from '../checkout-facts.ts';
import { differences } from '../compare.ts';
import { storeIsWhole } from '../promises.ts';
import type { Worktree } from '../worktree.ts';
import { FILE_CHANGES, RULE_CHANGES, type WorktreeStep } from '../worktree-files.ts';
import { BRANCH_CHANGES, FLAG_CHANGES, INDEX_CHANGES, SUBMODULE_CHANGES } from '../worktree-git.ts';
import { acceptAct, rejectAct, unacceptAct } from './accepts.ts';
import type { LandingLife, Session } from './landing-life.ts';
import { look, report } from './scene.ts';
import { syncAct } from './syncs.ts';

interface Kind {
  readonly weight: number;
  readonly steps: readonly WorktreeStep[];
}

/** A user commits, goes to other branches, and now and then has nothing uncommitted. */
const USERS_OWN: readonly WorktreeStep[] = [
  { name: 'commit everything', weight: 3, act: commitAll },
  { name: 'tidy', weight: 2, act: tidy },
  {
    name: 'another branch',
    weight: 0.7,
    act: (tree) => tree.git(['switch', '-q', tree.random.pick(['side', '--detach', 'main'])]),
  },
  { name: 'back to main', weight: 2, act: (tree) => tree.git(['switch', '-q', 'main']) },
];

const USERS: readonly Kind[] = [
  { weight: 4, steps: FILE_CHANGES },
  { weight: 0.4, steps: RULE_CHANGES },
  { weight: 1.5, steps: INDEX_CHANGES },
  { weight: 0.3, steps: FLAG_CHANGES },
  { weight: 0.7, steps: SUBMODULE_CHANGES },
  { weight: 4, steps: USERS_OWN },
];
const AGENTS: readonly Kind[] = [
  { weight: 5, steps: FILE_CHANGES },
  { weight: 0.5, steps: RULE_CHANGES },
  { weight: 3, steps: INDEX_CHANGES },
  { weight: 1, steps: BRANCH_CHANGES },
  { weight: 0.5, steps: SUBMODULE_CHANGES },
];

const USER = 0.35;
const AGENT = 0.35;

export function step(life: LandingLife, number: number): void {
  const { random } = life;
  const share = random.next();
  if (share < USER) change(life, number, 'user', life.user, USERS);
  else if (share < USER + AGENT) {
    const { agent } = life.session ?? life.newSession();
    life.chooseProgram();
    change(life, number, 'agent', agent, AGENTS);
  } else if (life.last !== undefined && random.chance(0.4)) unacceptAct(life);
  else land(life, life.session ?? life.newSession(), number);
}

export function end(life: LandingLife): void {
  while (life.session !== undefined) rejectAct(life, life.session);
  storeIsWhole(life.root);
}

function change(
  life: LandingLife,
  number: number,
  who: string,
  tree: Worktree,
  kinds: readonly Kind[],
): void {
  const { name, act } = life.random.weighted(life.random.weighted(kinds).steps);
  life.note(`${number} ${who}: ${name}`);
  const path = act(tree);
  if (typeof path === 'string') life.note(`  ${JSON.stringify(path)}`);
}

function land(life: LandingLife, session: Session, number: number): void {
  const { act } = life.random.weighted([
    { weight: 5, act: acceptAct },
    { weight: 3, act: syncAct },
    { weight: 0.5, act: rejectAct },
    { weight: 1, act: autocommit },
    { weight: 2, act: life.other === undefined ? fork : other },
  ]);
  life.note(`${number} ${act.name}`);
  act(life, session);
}

function fork(life: LandingLife, session: Session): void {
  life.fork(session);
}

function other(life: LandingLife): void {
  life.change();
}

function autocommit(life: LandingLife, session: Session): void {
  const before = look(life, session);
  life.agtOk('autocommit', session.id);
  report(differences(before.user, readCheckout(life.root)), 'an autocommit changed what the user has');
  report(differences(before.sandbox, readCheckout(session.sandbox)), 'an autocommit changed the sandbox');
}

function commitAll(tree: Worktree): void {
  tree.git(['add', '-A']);
  tree.git(['commit', '-q', '--no-verify', '-m', `by the user ${tree.random.below(1000)}`]);
}

function tidy(tree: Worktree): void {
  tree.git(['merge', '--abort']);
  tree.git(['reset', '-q', '--hard']);
  tree.git(['clean', '-qfd']);
}
