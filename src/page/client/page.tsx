/** The page of `agt ui`: which view, for which session. */
import { type RefObject, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ACTS, type Act, useAct } from './acts.tsx';
import { askJson, isSaved, type Row, watchRows } from './api.ts';
import { Changes } from './changes.tsx';
import { FilePage } from './file.tsx';
import { ago, isEnded, isFolder, lastPart, nameOf, stateOf } from './format.ts';
import { Now, type NowProps } from './now.tsx';
import { Review } from './review.tsx';
import { Search } from './search.tsx';
import {
  go,
  hrefOf,
  type Loaded,
  ofSession,
  Problem,
  type Route,
  useKeys,
  useLoaded,
  useRoute,
} from './shell.tsx';
import './page.css';
import { Timeline } from './timeline.tsx';

const VIEWS = {
  timeline: 'Timeline',
  review: 'Review',
  changes: 'Changes',
  file: 'Files',
  search: 'Search',
} as const;

function Page() {
  const route = useRoute();
  const [rows, setRows] = useState<readonly Row[]>();
  const [isGone, setGone] = useState(false);
  const help = useRef<HTMLDialogElement>(null);
  useEffect(() => watchRows(setRows, setGone), []);
  const { session, repository, view } = route;
  const isRow = (one: Row) => one.session_id === session && (!repository || one.repository === repository);
  const active = isSaved ? rows?.[0] : rows?.find(isRow);
  const [showsEnded, setShowsEnded] = useState(false);
  const needsEnded = rows !== undefined && (showsEnded || (session !== undefined && active === undefined));
  const ended = useEnded(needsEnded, rows);
  // Between the two lists a session that ends is in neither, and the dialog that ended it still shows the result.
  const last = useRef<Row | undefined>(undefined);
  const before = last.current !== undefined && isRow(last.current) ? last.current : undefined;
  const row = active ?? ended?.value?.find(isRow) ?? before;
  last.current = row;
  useKeys({
    '?': () => help.current?.showModal(),
    n: () => go({ view: 'now' }),
    '/': () => {
      const field = document.getElementById('search');
      if (field === null) go({ view: 'search', session, repository });
      else field.focus();
    },
    ...(row && {
      t: () => go(ofSession('timeline', row)),
      c: () => go(ofSession('changes', row)),
      w: () => go(ofSession('review', row)),
      f: () => go(ofSession('file', row)),
    }),
  });
  return (
    <>
      <header class="top">
        <a class="logo" href="#now">
          agt
        </a>
        <nav aria-label="Views">
          {!isSaved && (
            <a href="#now" aria-current={view === 'now' ? 'page' : undefined}>
              Now
            </a>
          )}
          {session === undefined && !isSaved && rows?.[0]?.repository === undefined && (
            <a href="#search" aria-current={view === 'search' ? 'page' : undefined}>
              Search
            </a>
          )}
          {row !== undefined &&
            Object.entries(VIEWS)
              .filter(([name]) => name !== 'review' || !(isEnded(row) || isFolder(row)))
              .filter(([name]) => !isSaved || ['timeline', 'review', 'changes'].includes(name))
              .map(([name, words]) => (
                <a
                  key={name}
                  href={hrefOf(ofSession(name, row))}
                  aria-current={view === name ? 'page' : undefined}
                >
                  {words}
                </a>
              ))}
        </nav>
        <button type="button" class="help" aria-label="Keys" onClick={() => help.current?.showModal()}>
          ?
        </button>
      </header>
      {isGone && <Problem text="agt ui does not answer; if it has ended, start it again" />}
      {row !== undefined && <SessionHead key={row.session_id} row={row} />}
      {rows === undefined ? (
        <p class="loading">Loading…</p>
      ) : (
        <View {...{ rows, row, route, ended }} onToggle={() => setShowsEnded(!showsEnded)} />
      )}
      <Help dialog={help} />
    </>
  );
}

/** They seldom change: asked for when a session begins or ends. */
function useEnded(
  isWanted: boolean,
  rows: readonly Row[] = [],
): Loaded<readonly Row[] | undefined> | undefined {
  const loaded = useLoaded(async () => {
    if (!isWanted) return undefined;
    const all = await askJson<Row[]>(undefined, ['session', 'list', '--all']);
    return all.filter(isEnded);
  }, [isWanted, rows.map(({ session_id: id }) => id).join(' ')]);
  return isWanted ? loaded : undefined;
}

interface ViewProps extends NowProps {
  readonly row: Row | undefined;
  readonly route: Route;
}

function View({ rows, row, route, ended, onToggle }: ViewProps) {
  const { view, session } = route;
  if (view === 'now' && isSaved && rows[0] !== undefined) return <Timeline row={rows[0]} rows={rows} />;
  if (view === 'search') return <Search key={hrefOf(route)} route={route} row={row} />;
  if (view === 'now' || session === undefined) return <Now rows={rows} ended={ended} onToggle={onToggle} />;
  if (row === undefined && ended?.value === undefined && ended?.error === undefined)
    return <p class="loading">Loading…</p>;
  if (row === undefined)
    return (
      <main>
        <Problem text={ended?.error ?? `agt knows no session ${session} here; see agt list --all`} />
      </main>
    );
  if (view === 'changes') return <Changes row={row} rows={rows} route={route} />;
  if (view === 'review') return <Review key={row.session_id} row={row} />;
  if (view === 'file') return <FilePage key={hrefOf(route)} row={row} route={route} />;
  return <Timeline row={row} rows={rows} />;
}

function SessionHead({ row }: { row: Row }) {
  const { state, words } = stateOf(row);
  const { start, canAct, dialog } = useAct(row);
  const button = (text: string, act: Act, cls = '') => (
    <button type="button" class={cls} onClick={() => start(act)}>
      {text}
    </button>
  );
  return (
    <section class="head" aria-label={`session ${row.session_id}`}>
      <p class="title">
        <strong>{nameOf(row)}</strong>
        {row.repository && <span class="quiet">{lastPart(row.repository)}</span>}
        <span class={`pill is-${state}`}>{words}</span>
        {row.agent_state?.for && <em>{row.agent_state.for}</em>}
        {state === 'waits' && <span class="quiet">answer in its terminal</span>}
        {row.landed && (
          <span class="quiet">
            accepted {ago(row.landed.at)} ago, on {row.landed.onto} as {row.landed.commit.slice(0, 10)}
          </span>
        )}
        {row.agent_state?.prompt && <span class="prompt">{row.agent_state.prompt}</span>}
      </p>
      {canAct && (
        <div class="acts" role="toolbar" aria-label="Acts">
          {button('Undo', ACTS.undo(row))}
          {button('Redo', ACTS.redo(row))}
          {row.landed && button('Take the acceptance back…', ACTS.unaccept(row))}
          {!isEnded(row) && button('Label…', ACTS.label(row))}
          {!isFolder(row) && button('Fork…', ACTS.fork(row))}
          {!isEnded(row) && !isFolder(row) && (
            <>
              {button('Sync…', ACTS.sync(row))}
              {button('Accept all…', ACTS.accept(row), 'main')}
              {button('Reject session…', ACTS.reject(row))}
              {button('Remove…', ACTS.remove(row))}
            </>
          )}
        </div>
      )}
      {dialog}
    </section>
  );
}

const KEYS = [
  ['j, k', 'next and previous step'],
  ['Enter', 'what the step changed'],
  ['m', 'choose the step, then another: compare both'],
  ['v', 'side by side, or one under the other'],
  ['s, r', 'in a review: the hunk is seen, or rejected'],
  ['t, w, c, f', 'timeline, review, changes, files'],
  ['n', 'now: all sessions'],
  ['/', 'search'],
  ['?', 'these keys'],
] as const;

function Help({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }) {
  return (
    <dialog ref={dialog} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="main">
          Close
        </button>
      </form>
    </dialog>
  );
}

const place = document.getElementById('page');
if (place !== null) {
  place.textContent = '';
  render(<Page />, place);
}
