/** A user's and an agent's steps in a checkout. */
import { join } from 'node:path';
import { repositoriesIn } from '../checkout-facts.ts';
import { differences } from '../compare.ts';
import type { Facts } from '../facts.ts';
import { dirtyPaths, isInside } from '../paths.ts';
import { makeDirectory, ok, REAL_GIT, run } from '../programs.ts';
import { storeIsWhole } from '../promises.ts';
import { zeroed } from '../worktree.ts';
import { FILE_CHANGES, RULE_CHANGES, type WorktreeStep } from '../worktree-files.ts';
import { BRANCH_CHANGES, FLAG_CHANGES, INDEX_CHANGES, SUBMODULE_CHANGES } from '../worktree-git.ts';
import { endAct, lastEnd } from './ends.ts';
import type { InPlaceLife, Stay } from './in-place-life.ts';

interface Kind {
  readonly weight: number;
  readonly steps: readonly WorktreeStep[];
}

const USERS: readonly Kind[] = [
  { weight: 5, steps: FILE_CHANGES },
  { weight: 0.5, steps: RULE_CHANGES },
  { weight: 3, steps: INDEX_CHANGES },
  { weight: 0.5, steps: FLAG_CHANGES },
  { weight: 1.5, steps: SUBMODULE_CHANGES },
];
const AGENTS: readonly Kind[] = [
  { weight: 5, steps: FILE_CHANGES },
  { weight: 1, steps: RULE_CHANGES },
  { weight: 2.5, steps: INDEX_CHANGES },
  { weight: 1, steps: BRANCH_CHANGES },
  { weight: 1, steps: SUBMODULE_CHANGES },
];

const BEGIN = 0.2;
const END = 0.1;
const AGT = 0.15;
const MOVED = 0.02;

export function step(life: InPlaceLife, number: number): void {
  const { random, stay } = life;
  if (stay === undefined) {
    if (random.chance(BEGIN)) begin(life);
    else change(life, number, 'user', USERS);
    return;
  }
  if (random.chance(END)) endAct(life, stay);
  else if (random.chance(AGT)) agtAct(life, stay, number);
  else if (random.chance(MOVED)) moveMain(life);
  else {
    life.chooseProgram();
    change(life, number, 'agent', AGENTS);
    notice(stay, life.look());
  }
}

export function end(life: InPlaceLife): void {
  if (life.stay !== undefined) lastEnd(life, life.stay);
  storeIsWhole(life.root);
}

function change(life: InPlaceLife, number: number, who: 'user' | 'agent', kinds: readonly Kind[]): void {
  const { name, act } = life.random.weighted(life.random.weighted(kinds).steps);
  life.note(`${number} ${who}: ${name}`);
  const path = act(life[who]);
  if (typeof path === 'string') life.note(`  ${JSON.stringify(path)}`);
}

/** The work branch is checked out without a change, and what git ignores is as it was. */
function begin(life: InPlaceLife): void {
  const id = `s${++life.counts.sessions}`;
  const start = life.look();
  const dirty = new Set(dirtyPaths(start));
  const all = [...life.untracked().ignored].filter((path) => !dirty.has(path));
  const base = life.git('rev-parse', 'main');
  const outcome = life.agt('session', 'new', id, '--working-copy', 'in-place');
  const now = life.look();
  if (outcome.exitCode !== 0) {
    life.counts.refused++;
    report(differences(start, now), 'a refused session new changed something');
    const hasConflicts = [...start.keys()].some((key) => /^index [123] /.test(key));
    const isTrue = hasConflicts && /has conflicts/.test(outcome.stderr);
    if (!isTrue) throw new Error(`session new refuses: ${outcome.stderr}`);
    life.git('reset', '-q', '--hard');
    return;
  }
  const isBelow = (path: string) => [...dirty].some((above) => path.startsWith(`${above}/`));
  // A link, where the agent has a directory of the branch.
  const isReplaced = (path: string) =>
    now.get(`file ${path}`)?.startsWith('directory') && !start.get(`file ${path}`)?.startsWith('directory');
  const setAside = new Set(
    all.filter((path) => (isBelow(path) && !now.has(`file ${path}`)) || isReplaced(path)),
  );
  const ignored = new Set(all.filter((path) => !setAside.has(path)));
  const stay: Stay = { id, start, ignored, setAside, base, touched: new Set() };
  life.stay = stay;
  if (now.get('HEAD') !== `ref: refs/heads/agt/${id}`) throw new Error(`HEAD is ${now.get('HEAD')}`);
  report(
    differences(start, now, (key) => !key.startsWith('ref ')),
    'session new moved a ref',
  );
  report(untouched(stay, now), 'session new changed what git does not look at');
  const args = ['status', '--porcelain', '-z', '-uall', '--no-renames', '--ignore-submodules=all'];
  // Attributes that are set aside may have given a file its ends of lines.
  const hasAttributes = [...dirty].some((path) => path.endsWith('.gitattributes'));
  // A commit may have ends of lines that its own attributes would change.
  const hasOtherEnds = (path: string) =>
    life.git('diff', '--ignore-cr-at-eol', '--', `:(literal,top)${path}`) === '';
  // Files that a rule of the user's had ignored are untracked while the rule is set aside.
  const lines = zeroed(life.git(...args)).filter(
    (line) =>
      !line.endsWith('/') &&
      !ignored.has(line.slice(3)) &&
      !(/^ ?M /.test(line) && (hasAttributes || hasOtherEnds(line.slice(line.indexOf('M ') + 2)))),
  );
  report(lines, 'the agent does not begin with a clean checkout');
}

function report(faults: readonly string[], why: string): void {
  if (faults.length > 0) throw new Error(`${why}:\n${faults.join('\n')}`);
}

/** Ignored files, and repositories inside. */
function isNotLookedAt({ start, ignored }: Stay): (key: string) => boolean {
  const repositories = repositoriesIn(start);
  return (key) =>
    (key.startsWith('file ') && ignored.has(key.slice('file '.length))) ||
    repositories.some((path) => isInside(key, path));
}

/** Remembers what the agent has changed. */
function notice(stay: Stay, now: Facts): void {
  const isHis = isNotLookedAt(stay);
  for (const key of new Set([...stay.start.keys(), ...now.keys()]))
    if (isHis(key) && stay.start.get(key) !== now.get(key)) stay.touched.add(key);
}

/** Differences that the agent did not make. */
function untouched(stay: Stay, now: Facts): string[] {
  const isHis = isNotLookedAt(stay);
  return differences(stay.start, now, (key) => !isHis(key) || stay.touched.has(key));
}

function agtAct(life: InPlaceLife, stay: Stay, number: number): void {
  const { random } = life;
  const { words, isQuiet } = random.weighted([
    { words: ['autocommit', stay.id], isQuiet: true, weight: 3 },
    { words: ['session', 'undo', stay.id], isQuiet: false, weight: 2 },
    { words: ['session', 'redo', stay.id], isQuiet: false, weight: 1 },
    { words: ['session', 'restore', stay.id, '--to', `@{${random.below(4)}}`], isQuiet: false, weight: 1 },
    {
      words: random.pick([
        ['status'],
        ['list'],
        ['session', 'diff', stay.id, '--base', '--stat'],
        ['accept', stay.id, '-n'],
        ['reject', stay.id, '-n'],
        ['doctor'],
      ]),
      isQuiet: true,
      weight: 1.5,
    },
  ]);
  life.note(`${number} agent: agt ${words[0]}`);
  const before = life.look();
  const outcome = life.agt(...words);
  const now = life.look();
  if (words[0] === 'autocommit' && outcome.exitCode !== 0)
    throw new Error(`autocommit failed: ${outcome.stderr}`);
  // A restore may do a part, and say so.
  if (isQuiet) report(differences(before, now), `agt ${words.join(' ')} changed something`);
  report(untouched(stay, now), `agt ${words.join(' ')} changed what git does not look at`);
}

/** Somebody pushes to the user's branch meanwhile. */
function moveMain(life: InPlaceLife): void {
  const { random, root } = life;
  const env = { GIT_INDEX_FILE: join(makeDirectory('index'), 'index') };
  const path = random.pick(['landed', 'landed', 'a', 'src/landed', 'b.txt']);
  const oid = ok(REAL_GIT, ['hash-object', '-w', '--stdin'], root, `landed ${random.below(100)}\n`).trim();
  for (const args of [
    ['read-tree', 'main'],
    ['update-index', '--add', '--cacheinfo', `100644,${oid},${path}`],
  ])
    run(REAL_GIT, args, root, '', env);
  const tree = run(REAL_GIT, ['write-tree'], root, '', env).stdout.trim();
  if (tree === '') return;
  const commit = ok(REAL_GIT, ['commit-tree', '-p', 'main', '-m', 'landed', tree], root).trim();
  life.note(`  main gets ${path}`);
  if (life.look().get('HEAD') !== 'ref: refs/heads/main')
    ok(REAL_GIT, ['update-ref', 'refs/heads/main', commit], root);
}
