/** Finds the steps in which a text came or went, and prompts. */
import { askJson, type Row, type Step } from './api.ts';
import { clock, nameOf, nameOfAuthor } from './format.ts';
import { focus, goTo, hrefOf, type Route, Show, useLoaded } from './shell.tsx';

interface Found {
  readonly session_id: string | null;
  readonly commit: string;
  readonly at: string;
  readonly author: Step['author'];
  readonly agent: string | null;
  readonly change: 'came' | 'went';
  readonly path: string | null;
  readonly text: string | null;
  readonly prompt: string | null;
  readonly label: string | null;
}

const MOST = '200';

export function Search({ route, row }: { route: Route; row: Row | undefined }) {
  const { session, repository, q, prompts } = route;
  const found = useLoaded(async () => {
    if (!q) return null;
    const where = prompts === 'yes' ? ['--prompt'] : [];
    const about = row === undefined ? [] : ['--session', row.session_id];
    return askJson<Found[]>(row, ['search', q, ...where, ...about, '--number', MOST]);
  }, [q, prompts, row?.session_id]);
  return (
    <main>
      <h1>Search {row === undefined ? 'all sessions' : nameOf(row)}</h1>
      <form class="bar" onSubmit={goTo({ view: 'search', session, repository })}>
        <label class="wide">
          Text
          <input id="search" name="q" ref={focus} type="search" defaultValue={q ?? ''} />
        </label>
        <label class="check">
          <input type="checkbox" name="prompts" value="yes" defaultChecked={prompts === 'yes'} />
          only in prompts
        </label>
        <button type="submit">Search</button>
        {row !== undefined && <a href={hrefOf({ view: 'search', repository, q })}>in all sessions</a>}
      </form>
      <p class="quiet">agt lists the steps at which a text came or went, in every state of every session.</p>
      <Show of={found}>
        {(list) =>
          list === null ? null : list.length === 0 ? (
            <p class="empty">Nothing found. A text that never changed has no step: look in Files.</p>
          ) : (
            <ol class="found">
              {list.map((one, i) => (
                <li key={`${i}`}>
                  <a href={hrefOf(linkOf(one, repository))}>
                    <span class={`sign ${one.change === 'came' ? 'plus' : 'minus'}`} title={one.change}>
                      {one.change === 'came' ? '+' : '−'}
                    </span>
                    <strong>{one.path === null ? one.label : `${one.change} in ${one.path}`}</strong>
                    <span class="quiet">
                      {one.session_id} ·{' '}
                      {one.path === null ? (one.agent ?? 'an agent') : nameOfAuthor(one.author, one.agent)} ·{' '}
                      {clock(one.at)}
                      {one.path !== null && one.prompt !== null && ` · “${one.prompt}”`}
                      {wasFirst(one, list.slice(i + 1)) && ' · was there from the beginning'}
                    </span>
                    {one.text !== null && <code>{one.text.slice(0, 300)}</code>}
                  </a>
                </li>
              ))}
            </ol>
          )
        }
      </Show>
    </main>
  );
}

/** Nothing before it brought the text. */
const wasFirst = ({ change, path, session_id }: Found, older: readonly Found[]) =>
  change === 'went' && !older.some((one) => one.path === path && one.session_id === session_id);

function linkOf({ session_id, commit, path }: Found, repository: string | undefined): Route {
  const session = session_id ?? undefined;
  return path === null
    ? { view: 'timeline', session, repository }
    : { view: 'file', session, repository, path, at: commit };
}
