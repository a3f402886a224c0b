/** The page of `agt ui`: which view, for which session. */
import { type ComponentType, type RefObject, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ACTS, type Act, Acts, canAct, start } from './acts.tsx';
import { isSaved, type Row, watchRows } from './api.ts';
import { Changes } from './changes.tsx';
import { FilePage } from './file.tsx';
import { ago, forkOf, isEnded, isFolder, landedAs, nameOf, placeOf, stateOf } from './format.ts';
import { Now, useEnded } from './now.tsx';
import { Review } from './review.tsx';
import { Search } from './search.tsx';
import { Button, go, hrefOf, ofSession, Problem, type Route, useKeys, useRoute } from './shell.tsx';
import './page.css';
import { Timeline } from './timeline.tsx';

type View = ComponentType<{ row: Row; rows: readonly Row[]; route: Route }>;

const VIEWS: Readonly<Record<string, readonly [words: string, View]>> = {
  timeline: ['Timeline', Timeline],
  review: ['Review', Review],
  changes: ['Changes', Changes],
  file: ['Files', FilePage],
  search: ['Search', Search],
};

/** Names of the views of a session. */
function viewsOf(row: Row): string[] {
  const all = isSaved ? ['timeline', 'review', 'changes'] : Object.keys(VIEWS);
  return all.filter((name) => name !== 'review' || !(isEnded(row) || isFolder(row)));
}

function Page() {
  const route = useRoute();
  const [rows, setRows] = useState<readonly Row[]>();
  const [isGone, setGone] = useState(false);
  const help = useRef<HTMLDialogElement>(null);
  useEffect(() => watchRows(setRows, setGone), []);
  const { session, repository, view } = route;
  const isRow = (one: Row) => one.session_id === session && (!repository || one.repository === repository);
  const active = isSaved ? rows?.[0] : rows?.find(isRow);
  const ended = useEnded(rows !== undefined && session !== undefined && active === undefined, rows);
  const row = active ?? ended.value?.find(isRow);
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
  const isOfMany = rows?.[0]?.repository !== undefined;
  const tabs: readonly (readonly [string, Route])[] = [
    ...(isSaved ? [] : [['Now', { view: 'now' }] as const]),
    ...(session || isSaved || isOfMany ? [] : [['Search', { view: 'search' }] as const]),
    ...(row ? viewsOf(row).map((name) => [VIEWS[name]?.[0] ?? '', ofSession(name, row)] as const) : []),
  ];
  const [, Shown] = VIEWS[view] ?? ['', Timeline];
  return (
    <>
      <header class="top">
        <a class="logo" href="#now">
          agt
        </a>
        <nav aria-label="Views">
          {tabs.map(([words, to]) => (
            <a key={words} href={hrefOf(to)} aria-current={view === to.view ? 'page' : undefined}>
              {words}
            </a>
          ))}
        </nav>
        <Button class="help" aria-label="Keys" onClick={() => help.current?.showModal()}>
          ?
        </Button>
      </header>
      {isGone && <Problem text="agt ui does not answer; if it has ended, start it again" />}
      {row !== undefined && <SessionHead key={row.session_id} row={row} />}
      {rows === undefined || (session && !row && ended.isLoading) ? (
        <p class="loading">Loading…</p>
      ) : row !== undefined ? (
        <Shown key={hrefOf(route)} {...{ row, rows, route }} />
      ) : session !== undefined ? (
        <main>
          <Problem text={ended.error ?? `agt knows no session ${session} here; see agt list --all`} />
        </main>
      ) : view === 'search' ? (
        <Search key={hrefOf(route)} route={route} row={undefined} />
      ) : (
        <Now rows={rows} route={route} />
      )}
      <Acts />
      <Help dialog={help} />
    </>
  );
}

function SessionHead({ row }: { row: Row }) {
  const { state, words } = stateOf(row);
  const button = (text: string, act: Act, cls = '') => (
    <Button class={cls} onClick={() => start(row, act)}>
      {text}
    </Button>
  );
  return (
    <section class="head" aria-label={`session ${row.session_id}`}>
      <p class="title">
        <strong>{nameOf(row)}</strong>
        {row.repository && <span class="quiet">{placeOf(row.repository)}</span>}
        <span class={`pill is-${state}`}>{words}</span>
        {row.agent_state?.for && <em>{row.agent_state.for}</em>}
        {state === 'waits' && <span class="quiet">(answer in its terminal)</span>}
        {row.from && <a href={hrefOf({ ...ofSession('timeline', row), session: row.from })}>{forkOf(row)}</a>}
        {row.landed && (
          <span class="quiet" title={row.landed.commit}>
            {landedAs(row.landed, ` ${ago(row.landed.at)} ago`)}
          </span>
        )}
        {row.agent_state?.prompt && <span class="prompt">Prompt: {row.agent_state.prompt}</span>}
      </p>
      {canAct && (
        <div class="acts" role="toolbar" aria-label="Acts">
          {button('Undo', ACTS.undo(row))}
          {button('Redo', ACTS.redo(row))}
          {row.landed && button('Take the acceptance back…', ACTS.unaccept(row))}
          {!isEnded(row) && button('Label the present…', ACTS.label(row))}
          {!isFolder(row) && button('Fork the present…', ACTS.fork(row))}
          {!isEnded(row) && !isFolder(row) && (
            <>
              {button('Sync…', ACTS.sync(row))}
              {button('Accept all…', ACTS.accept(row), row.diff?.files === 0 ? '' : 'main')}
              {button('Reject session…', ACTS.reject(row))}
              {button('Remove…', ACTS.remove(row))}
            </>
          )}
        </div>
      )}
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
      {KEYS.map(([key, does]) => (
        <p key={key} class="keys">
          <kbd>{key}</kbd> {does}
        </p>
      ))}
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
