/** How a person changes and rewrites the history of a branch after acceptances. */
import { agtOk, git, REAL_GIT, run } from '../../harness/world.ts';
import { PERSON, type Pen, type Place } from './pen.ts';

const count = (cwd: string, ...range: string[]) => Number(git(cwd, 'rev-list', '--count', ...range));

function commit(cwd: string, message: string) {
  git(cwd, 'add', '-A');
  git(cwd, 'commit', '-q', '--allow-empty', '-m', message);
}

export function personCommits(pen: Pen, place: Place) {
  pen.act(place, PERSON);
  commit(place.folder, 'a person');
}

type Rewrite = (pen: Pen, place: Place) => void;

const REWRITES: Record<string, Rewrite> = {
  'a person later': personCommits,
  amended: (_, { folder }) =>
    git(folder, 'commit', '-q', '--allow-empty', '--amend', '-m', 'another message'),
  'all rebased': (_, { folder }) => git(folder, 'rebase', '-q', '-f', '--root'),
  'the last two in one': (_, { folder }) => {
    if (count(folder, '--first-parent', 'HEAD') < 3) return;
    git(folder, 'reset', '-q', '--soft', 'HEAD~2');
    commit(folder, 'in one');
  },
  'all as fixups': (_, { folder }) => {
    const editor = { GIT_SEQUENCE_EDITOR: "sed -i -e '2,$s/^pick/fixup/'" };
    if (run(REAL_GIT, ['rebase', '-q', '-i', 'HEAD~2'], { cwd: folder, env: editor }).exitCode !== 0)
      run(REAL_GIT, ['rebase', '--abort'], { cwd: folder });
  },
  'garbage collected': (_, { folder }) => agtOk(folder, 'gc'),
  'picked onto another branch': (pen, place) => ontoOther(pen, place, 'pick'),
  'rebased onto another branch': (pen, place) => ontoOther(pen, place, 'rebase'),
  'squashed onto another branch': (pen, place) => ontoOther(pen, place, 'squash'),
};

/** A person has gone on from an older commit; the newer ones come there. If there is a conflict, nothing happens. */
function ontoOther(pen: Pen, place: Place, how: 'pick' | 'rebase' | 'squash') {
  const { folder } = place;
  const { random } = pen;
  const most = Math.min(3, count(folder, '--first-parent', 'HEAD') - 1);
  if (most < 1) return;
  const branch = git(folder, 'symbolic-ref', '--short', 'HEAD');
  const tip = git(folder, 'rev-parse', 'HEAD');
  const base = git(folder, 'rev-parse', `HEAD~${1 + random.below(most)}`);
  const [other, moved] = [`other-${random.below(1e9)}`, `moved-${random.below(1e9)}`];
  git(folder, 'checkout', '-q', '-b', other, base);
  pen.edit({ folder, files: pen.read(folder) }, PERSON);
  commit(folder, 'a person elsewhere');
  git(folder, 'branch', moved, tip);
  const hasMerges = count(folder, '--merges', `${base}..${tip}`) > 0;
  const words =
    how === 'squash'
      ? ['merge', '-q', '--squash', tip]
      : how === 'rebase' || hasMerges
        ? ['rebase', '-q', other, moved]
        : ['cherry-pick', '--allow-empty', '--keep-redundant-commits', `${base}..${tip}`];
  if (run(REAL_GIT, words, { cwd: folder }).exitCode !== 0) {
    for (const operation of ['cherry-pick', 'rebase']) run(REAL_GIT, [operation, '--abort'], { cwd: folder });
    git(folder, 'reset', '-q', '--hard');
    git(folder, 'checkout', '-q', branch);
    return;
  }
  if (how === 'squash') commit(folder, 'squashed');
  place.files = pen.read(folder);
}

/** Returns what has happened. */
export function rewrite(pen: Pen, place: Place): string {
  const names = Object.keys(REWRITES);
  const name = pen.random.pick(names);
  REWRITES[name]?.(pen, place);
  return name;
}
