/** The ways in which a session in place ends, each compared with what the user has to find then. */

import { repositoriesIn } from '../checkout-facts.ts';
import { commitsAreKept, snapshotHolds } from '../held.ts';
import { isInside } from '../paths.ts';
import { acceptAct } from './accept.ts';
import { ended, IN_THE_WAY, type Last, lookLast } from './end.ts';
import type { InPlaceLife, Stay } from './in-place-life.ts';

type How = 'reject' | 'remove' | 'sweep' | 'replace' | 'accept' | 'keep';

const WAYS: readonly { readonly how: How; readonly weight: number }[] = [
  { how: 'reject', weight: 3 },
  { how: 'remove', weight: 2 },
  { how: 'sweep', weight: 1 },
  { how: 'replace', weight: 0.7 },
  { how: 'accept', weight: 4 },
  { how: 'keep', weight: 0.7 },
];

export function endAct(life: InPlaceLife, stay: Stay): void {
  const { how } = life.random.weighted(WAYS);
  if (how === 'accept' || how === 'keep') {
    const isDone = acceptAct(life, stay, how === 'keep');
    if (isDone || life.random.chance(0.5)) return;
    remove(life, stay, 'reject');
    return;
  }
  remove(life, stay, how === 'replace' && life.git('rev-parse', 'main') !== stay.base ? 'reject' : how);
}

/** The last step of a life. */
export function lastEnd(life: InPlaceLife, stay: Stay): void {
  remove(life, stay, life.random.pick(['reject', 'remove'] as const));
}

const COMMANDS = (id: string) =>
  ({
    reject: ['reject', id],
    remove: ['session', 'remove', id],
    sweep: ['session', 'sweep'],
    replace: ['session', 'new', `${id}-next`, '--working-copy', 'in-place'],
  }) as const;

function remove(life: InPlaceLife, stay: Stay, how: 'reject' | 'remove' | 'sweep' | 'replace'): void {
  const { id } = stay;
  const last = lookLast(life, stay);
  if (how === 'sweep') life.agtOk('config', 'set', 'agt.sessionTimeout', '0 minutes');
  const outcome = life.agt(...COMMANDS(id)[how]);
  const output = `${outcome.stdout}${outcome.stderr}`;
  if (how === 'sweep') life.agtOk('config', 'set', 'agt.sessionTimeout', 'never');
  const isRefused = outcome.exitCode !== 0 && !IN_THE_WAY.test(output);
  if (isRefused || life.stateOf(id) === 'active') throw new Error(`the session cannot end: ${output}`);
  life.counts.removed++;
  if (how === 'replace') replaced(life, stay, last, output);
  else ended(life, stay, last, output);
}

/** The next session has set the user's work aside again. */
function replaced(life: InPlaceLife, stay: Stay, last: Last, output: string): void {
  const next = `${stay.id}-next`;
  snapshotHolds(life.root, stay.id, last.content);
  commitsAreKept(life.root, last.commits);
  if (life.stateOf(next) !== 'active') throw new Error(`the next session did not begin: ${output}`);
  const now = life.look();
  const touched = new Set(
    [...last.final.keys()].filter((key) => last.final.get(key) !== stay.start.get(key)),
  );
  const { landed: _, ...before } = stay;
  // An ignored file is the user's by now, as the first agent has left it.
  const start = new Map(stay.start);
  const isFile = (path: string) => /^(file|link)/.test(now.get(`file ${path}`) ?? '');
  const left = [...life.untracked().ignored].filter((path) => !stay.setAside.has(path) && isFile(path));
  for (const path of left) start.set(`file ${path}`, now.get(`file ${path}`) as string);
  const ignored = new Set([...stay.ignored, ...left]);
  // So are repositories that the first agent has made or moved, and the directories above them.
  for (const path of repositoriesIn(now))
    for (const [key, text] of now)
      if (!start.has(key) && (isInside(key, path) || `file ${path}/`.startsWith(`${key}/`)))
        start.set(key, text);
  life.stay = { ...before, start, ignored, id: next, touched: new Set([...stay.touched, ...touched]) };
  if (now.get('HEAD') !== `ref: refs/heads/agt/${next}`) throw new Error(`HEAD is ${now.get('HEAD')}`);
}
