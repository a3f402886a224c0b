/** A diff: the tree of its files, and each file's lines as soon as it comes into view. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ACTS, canAct, start } from './acts.tsx';
import { askJson, type Change, fileAddress, isSaved, type Row, type Step } from './api.ts';
import { PatchView } from './code.tsx';
import { filesOf, isFolder, nameOf, plural, titleOf as titleOfStep } from './format.ts';
import { readPatch } from './patch.ts';
import {
  Button,
  hrefOf,
  Many,
  ofSession,
  Problem,
  type Route,
  Secret,
  Show,
  useKeys,
  useLoaded,
} from './shell.tsx';
import { readSteps } from './timeline.tsx';

/** The words of the comparison, without paths. */
function wordsOf(row: Row, { a, b, turn, other }: Partial<Route>): string[] {
  const session = ['session', 'diff', row.session_id];
  if (turn) return [...session, '--turn', turn];
  if (other) return [...session, '--with', other];
  if (a && b) return [...session, a, b];
  if (b) return [...session, b];
  return [...session, '--base'];
}

function titleOf({ a, b, turn, other }: Route, row: Row, steps: readonly Step[]): string {
  const name = (commit: string) => {
    const step = steps.find((one) => one.commit === commit);
    return step === undefined ? commit.slice(0, 10) : `“${titleOfStep(step)}”`;
  };
  const isNext = (one: Step, i: number) => one.commit === b && steps[i + 1]?.commit === a;
  if (turn) return `Turn ${turn}`;
  if (other) return `Compared with ${other}`;
  if (a && b && (a === b || steps.some(isNext))) return `Before and after ${name(b)}`;
  if (a && b) return `From ${name(a)} to ${name(b)}`;
  if (b) return `Since ${name(b)}`;
  return isFolder(row)
    ? `All since the first snapshot of ${nameOf(row)}`
    : `All that ${row.session_id} would bring home`;
}

export function Changes({ row, rows, route }: { row: Row; rows: readonly Row[]; route: Route }) {
  const words = wordsOf(row, route);
  const [isSplit, setSplit] = useState(localStorage.getItem('split') === 'yes');
  const loaded = useLoaded(
    () => askJson<Change[]>(row, [...words, '--patch']).then(together),
    [words.join(' '), filesOf(row)],
  );
  const { a, b, turn } = route;
  const hasMoments = (a ?? b ?? turn) !== undefined;
  const { value: steps = [] } = useLoaded(
    async () => (hasMoments ? readSteps(row) : []),
    [row.session_id, hasMoments],
  );
  const first = steps.findLastIndex((step) => `${step.turn}` === turn);
  const before = a ?? (turn && first >= 0 ? steps[first + 1]?.commit : undefined);
  const chooseSplit = () => {
    localStorage.setItem('split', isSplit ? 'no' : 'yes');
    setSplit(!isSplit);
  };
  useKeys({ v: chooseSplit });
  const others = rows.filter((one) => one !== row && !isFolder(one) && one.repository === row.repository);
  const against = hasMoments ? 'moments' : (route['other'] ?? '');
  return (
    <main class="changes">
      <header class="bar">
        <h1>{titleOf(route, row, steps)}</h1>
        {!isSaved && !isFolder(row) && (
          <label>
            Against
            <select
              value={against}
              onChange={({ currentTarget: { value } }) => {
                if (value !== 'moments') location.hash = hrefOf(ofSession('changes', row, { other: value }));
              }}
            >
              <option value="">the branch</option>
              {against === 'moments' && <option value="moments">chosen moments</option>}
              {others.map(({ session_id: id }) => (
                <option key={id} value={id}>
                  session {id}
                </option>
              ))}
            </select>
          </label>
        )}
        <Button aria-pressed={isSplit} onClick={chooseSplit}>
          Side by side
        </Button>
      </header>
      <Show of={loaded}>
        {(changes) =>
          changes.length === 0 ? (
            <p class="empty">Nothing differs.</p>
          ) : (
            <ChangedFiles key={words.join(' ')} {...{ row, route, changes, words, isSplit, before }} />
          )
        }
      </Show>
    </main>
  );
}

interface Shown {
  readonly row: Row;
  readonly route: Route;
  readonly words: readonly string[];
  readonly isSplit: boolean;
  /** The step before the changes, if they can be brought back from there. */
  readonly before: string | undefined;
}

function ChangedFiles({ changes, ...about }: Shown & { changes: readonly Change[] }) {
  const { row, before } = about;
  const [chosen, setChosen] = useState<Change>();
  const [from, setFrom] = useState(0);
  const choose = (change: Change) => {
    if (document.getElementById(anchor(change.path)) === null) setFrom(changes.indexOf(change));
    setChosen({ ...change });
  };
  useEffect(() => document.getElementById(anchor(chosen?.path ?? ''))?.scrollIntoView(), [chosen]);
  const folders = Map.groupBy(changes, ({ path }) => path.replace(/[^/]*$/, ''));
  return (
    <div class="with-tree">
      <nav class="tree" aria-label="Changed files">
        <p class="quiet">{plural(changes.length, 'file')}</p>
        <Many all={[...folders]}>
          {([name, own]) => (
            <Folder key={name} {...{ name, own, choose }} isSmall={changes.length <= MOST_OPEN} />
          )}
        </Many>
      </nav>
      <div class="files">
        {from > 0 && (
          <Button class="more" onClick={() => setFrom(0)}>
            Show the {from} before
          </Button>
        )}
        <Many key={from} all={changes.slice(from)}>
          {(change) => (
            <FileChange key={change.path} {...about} change={change} isFirst={change === changes[from]} />
          )}
        </Many>
        {canAct && before && (
          <p class="buttons">
            <Many all={[...folders.keys()]}>
              {(name) => {
                const title = `Bring back all files ${name && `in ${name} `}as they were before`;
                const act = ACTS.restore(row, before, title, [name || './']);
                return (
                  <Button key={name} onClick={() => start(row, act)}>
                    {title}…
                  </Button>
                );
              }}
            </Many>
          </p>
        )}
      </div>
    </div>
  );
}

/** A turn may have changed a file several times. */
function together(changes: readonly Change[]): Change[] {
  const byPath = Map.groupBy(changes, ({ path }) => path);
  return [...byPath.values()].map((same) => {
    const patches = same.map(({ patch }) => patch);
    const patch = patches.includes(null) ? null : patches.join('');
    return { ...(same[0] as Change), patch };
  });
}

const anchor = (path: string) => `file-${path}`;

const Sign = ({ status }: { status: string }) => (
  <span class={`sign is-${status}`} title={status}>
    {status[0]?.toUpperCase()}
  </span>
);

/** Of so many files, all directories are open. */
const MOST_OPEN = 200;

interface FolderProps {
  readonly name: string;
  readonly own: readonly Change[];
  readonly isSmall: boolean;
  readonly choose: (change: Change) => void;
}

/** Draws what is in it once it is open. */
function Folder({ name, own, isSmall, choose }: FolderProps) {
  const [isOpen, setOpen] = useState(isSmall);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{name || '/'}</summary>
      <ul>
        <Many all={isOpen ? own : []} in="list">
          {(change) => (
            <li key={change.path}>
              <Button class="file" onClick={() => choose(change)}>
                <Sign status={change.status} />
                {change.path.slice(name.length)}
              </Button>
            </li>
          )}
        </Many>
      </ul>
    </details>
  );
}

const PICTURE = /\.(png|jpe?g|gif|webp|svg|ico|avif)$/i;

function FileChange({ change, isFirst, ...about }: Shown & { change: Change; isFirst: boolean }) {
  const { row, before } = about;
  const { b } = about.route;
  const { path, status } = change;
  const title = status === 'added' ? `Remove ${path} again` : `Bring ${path} back as it was before`;
  const place = useRef<HTMLElement>(null);
  const [isNear, setNear] = useState(isFirst);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setNear(true),
      { rootMargin: '600px' },
    );
    if (place.current !== null) observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return (
    <article ref={place} id={anchor(path)} class="change" aria-label={path}>
      <header>
        <h2>
          <Sign status={status} />
          {path}
        </h2>
        {!isSaved && (
          <a href={hrefOf(ofSession('file', row, { path, ...(b && { at: b }) }))}>File and history</a>
        )}
        {canAct && before && (
          <Button onClick={() => start(row, ACTS.restore(row, before, title, [path]))}>
            {status === 'added' ? 'Remove again…' : 'Bring back what was before…'}
          </Button>
        )}
      </header>
      {isNear ? <Lines {...about} change={change} /> : <p class="later">…</p>}
    </article>
  );
}

function Lines({ row, route, words, isSplit, change }: Shown & { change: Change }) {
  const { path, patch: printed, hidden: isHidden } = change;
  const [secrets, setSecrets] = useState(false);
  const shown = useLoaded(async () => {
    if (!secrets) return printed;
    const [change] = together(await askJson<Change[]>(row, [...words, '--patch', '--', path], { secrets }));
    return change?.patch;
  }, [secrets, printed]);
  if (shown.error !== undefined) return <Problem text={shown.error} />;
  if (isHidden && !secrets) return <Secret onShow={() => setSecrets(true)} />;
  if (shown.isLoading) return <p class="loading">Loading…</p>;
  if (shown.value === null) return <p class="note">Too long to show: see it in a terminal.</p>;
  const patch = readPatch(shown.value ?? '');
  if (patch.isBinary && PICTURE.test(path) && !isSaved)
    return (
      <img class="picture" src={fileAddress(row, route['b'] ?? '@{0}', path)} alt={`${path} afterwards`} />
    );
  if (patch.isBinary) return <p class="note">A binary file: git shows no lines of it.</p>;
  if (patch.hunks.length === 0)
    return <p class="note">{patch.notes.join(', ') || 'Only permissions or a folder without files.'}</p>;
  return <PatchView patch={patch} path={path} isSplit={isSplit} />;
}
