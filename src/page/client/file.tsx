/** Any file or directory at any moment: its history within the session, its content then, and who wrote each line. */
import { useState } from 'preact/hooks';
import { ACTS, start } from './acts.tsx';
import { askJson, fileAddress, type Row, type Step } from './api.ts';
import { FileView, type Origin } from './code.tsx';
import { clock, nameOfAuthor, titleOf } from './format.ts';
import { Button, goTo, hrefOf, Many, ofSession, type Route, Secret, Show, useLoaded } from './shell.tsx';

const ROOT = './';
/** Steps of a directory. */
const MOST = '300';

export function FilePage({ row, route }: { row: Row; route: Route }) {
  const open = route['path'] || ROOT;
  return (
    <main>
      <form class="bar" onSubmit={goTo(ofSession('file', row))}>
        <label class="wide">
          File
          <input id="search" name="path" defaultValue={route['path'] ?? ''} placeholder="src/login.ts" />
        </label>
        <button type="submit">Open</button>
      </form>
      <FileHistory key={open} row={row} path={open} at={route['at']} />
    </main>
  );
}

function FileHistory({ row, path, at }: { row: Row; path: string; at: string | undefined }) {
  const history = useLoaded(
    () => askJson<Step[]>(row, ['session', 'log', row.session_id, '--stat', '--number', MOST, '--', path]),
    [path, row.last_autocommit],
  );
  return (
    <Show of={history}>
      {(steps) => {
        const chosen = at === undefined ? steps[0] : steps.find(({ commit }) => commit === at);
        const moment = at ?? steps[0]?.commit ?? '@{0}';
        const oldest = steps.at(-1);
        const begin = oldest?.files.some(({ status }) => status !== 'added') && `${oldest.commit}~1`;
        const isGone = chosen?.files.some((file) => file.path === path && file.status === 'deleted');
        const title = isGone ? `Delete ${path}, as of this moment` : `Restore ${path}`;
        const hrefAt = (at: string) => hrefOf(ofSession('file', row, { path, at }));
        return (
          <div class="with-tree">
            <nav class="tree" aria-label="History of the file">
              <p class="quiet">{steps.length === 0 ? 'No step here changed it.' : 'History'}</p>
              <ol class="history">
                {steps.map((step, i) => (
                  <li key={step.commit}>
                    <a href={hrefAt(step.commit)} aria-current={step.commit === moment ? 'true' : undefined}>
                      <span>{titleOf(step)}</span>
                      <time class="quiet" dateTime={step.at}>
                        {clock(step.at)}
                        {i === 0 && ' · newest'}
                      </time>
                    </a>
                  </li>
                ))}
                {begin && (
                  <li>
                    <a href={hrefAt(begin)} aria-current={begin === moment ? 'true' : undefined}>
                      as it was before these steps
                    </a>
                  </li>
                )}
              </ol>
            </nav>
            <article class="change" aria-label={path}>
              <header>
                <h1>{path}</h1>
                <span class="quiet">
                  {chosen ? clock(chosen.at) : at === begin ? 'before' : moment.slice(0, 10)}
                </span>
                <Button onClick={() => start(row, ACTS.restore(row, moment, title, [path]))}>
                  {isGone ? 'Delete the file, as of this moment…' : 'Restore this version…'}
                </Button>
              </header>
              <Content {...{ row, path, moment }} isNewest={moment === (steps[0]?.commit ?? '@{0}')} />
            </article>
          </div>
        );
      }}
    </Show>
  );
}

interface BlameLine {
  readonly commit: string | null;
  readonly author: string;
  readonly summary: string;
  readonly origin: {
    readonly by: Step['author'];
    readonly agent: string | null;
    readonly turn: number | null;
    readonly tool: string | null;
    readonly prompt: string | null;
    readonly session: string;
  } | null;
}

interface Version {
  readonly row: Row;
  readonly path: string;
  readonly moment: string;
}

function Content({ isNewest, ...version }: Version & { isNewest: boolean }) {
  const { row, path, moment } = version;
  const [secrets, setSecrets] = useState(false);
  const [wantsBlame, setBlame] = useState(false);
  const content = useLoaded(async () => {
    const response = await fetch(`${fileAddress(row, moment, path)}${secrets ? '&secrets=1' : ''}`);
    if (response.status === 403) return { hidden: true } as const;
    if (!response.ok) return { note: 'There is no such file at this moment.' } as const;
    const type = response.headers.get('Content-Type') ?? '';
    if (type.startsWith('image/')) return { picture: true } as const;
    const text = await response.text();
    if (path.endsWith('/')) return { names: text.split('\n').slice(0, -1) } as const;
    return text.includes('\0') ? ({ note: 'A binary file.' } as const) : ({ text } as const);
  }, [moment, path, secrets]);
  const blame = useLoaded(
    async () =>
      wantsBlame ? askJson<BlameLine[]>(row, ['blame', '--', path], { inSandbox: true, secrets }) : [],
    [wantsBlame, path, moment, secrets],
  );
  return (
    <Show of={content}>
      {(found) => {
        if ('note' in found) return <p class="note">{found.note}</p>;
        if ('names' in found) return <Names {...version} names={found.names} />;
        if ('picture' in found)
          return <img class="picture" src={fileAddress(row, moment, path)} alt={`${path} at this moment`} />;
        if ('hidden' in found) return <Secret onShow={() => setSecrets(true)} />;
        return (
          <>
            {!path.startsWith('../') && (
              <p class="bar">
                {isNewest ? (
                  <Button aria-pressed={wantsBlame} onClick={() => setBlame(!wantsBlame)}>
                    Who wrote each line
                  </Button>
                ) : (
                  <span class="quiet">Who wrote each line stands beside the newest version.</span>
                )}
                <span class="minus">{blame.error}</span>
              </p>
            )}
            <FileView
              path={path}
              text={found.text}
              origins={wantsBlame ? blame.value?.map(originOf) : undefined}
            />
          </>
        );
      }}
    </Show>
  );
}

function originOf({ origin, commit, author, summary }: BlameLine): Origin {
  if (origin === null) return { words: `${author} ${commit?.slice(0, 8) ?? ''}`.trim(), title: summary };
  const { by, agent, turn, tool, prompt, session } = origin;
  const who = [nameOfAuthor(by, agent), turn !== null && `turn ${turn}`].filter(Boolean).join(' ');
  const short = turn === null ? who : `turn ${turn}`;
  return {
    words: prompt === null ? short : `${short}: ${prompt}`,
    title: [prompt ?? '', `${who}, ${session}${tool === null ? '' : `, ${tool}`}`].join('\n').trim(),
  };
}

function Names({ row, path, moment, names }: Version & { names: readonly string[] }) {
  const inside = path === ROOT ? '' : path;
  const hrefTo = (to: string) => hrefOf(ofSession('file', row, { path: to, at: moment }));
  return (
    <ul class="names">
      {inside !== '' && (
        <li>
          <a href={hrefTo(inside.replace(/[^/]*\/$/, '') || ROOT)}>../</a>
        </li>
      )}
      <Many all={names} in="list">
        {(name) => (
          <li key={name}>
            <a href={hrefTo(inside + name)}>{name}</a>
          </li>
        )}
      </Many>
    </ul>
  );
}
