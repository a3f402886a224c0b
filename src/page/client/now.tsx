/** One row for each session: who works, who waits for a person, and what came of it. */
import { useEffect, useState } from 'preact/hooks';
import { askJson, type Row } from './api.ts';
import {
  agentOf,
  ago,
  isEnded,
  isFolder,
  landedAs,
  nameOf,
  placeOf,
  plural,
  shortRef,
  stateOf,
} from './format.ts';
import {
  Button,
  go,
  hrefOf,
  Lines,
  type Loaded,
  ofSession,
  Problem,
  type Route,
  useLoaded,
} from './shell.tsx';

const ORDER = ['waits', 'failed', 'works', 'done', 'idle', 'ended'];

/**
 * They seldom change: asked for when a session begins or ends, and when a person comes back to the page, who may have
 * moved a branch in a terminal.
 */
export function useEnded(isWanted: boolean, rows: readonly Row[] = []): Loaded<readonly Row[] | undefined> {
  const [visits, visit] = useState(0);
  useEffect(() => {
    const come = () => visit((n) => n + 1);
    addEventListener('focus', come);
    return () => removeEventListener('focus', come);
  }, []);
  return useLoaded(async () => {
    if (!isWanted) return undefined;
    return (await askJson<Row[]>(undefined, ['session', 'list', '--all'])).filter(isEnded);
  }, [isWanted, visits, rows.map(({ session_id: id }) => id).join(' ')]);
}

export function Now({ rows, route }: { rows: readonly Row[]; route: Route }) {
  const showsEnded = route['ended'] === 'yes';
  const ended = useEnded(showsEnded, rows);
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 5_000);
    return () => clearInterval(timer);
  }, []);
  const rank = (row: Row) => ORDER.indexOf(stateOf(row).state);
  const last = (row: Row) => Date.parse(row.last_autocommit_at ?? row.created_at);
  const sorted = [...rows, ...(ended.value ?? [])].sort((a, b) => rank(a) - rank(b) || last(b) - last(a));
  const waiting = rows.filter((row) => stateOf(row).state === 'waits').length;
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) agt` : 'agt';
  }, [waiting]);
  return (
    <main>
      <h1>
        Now
        <span class="quiet" role="status">
          {waiting === 0 ? counted(rows) : `${waiting} of ${rows.length} waiting for you`}
        </span>
      </h1>
      <p class="bar">
        <Button aria-pressed={showsEnded} onClick={() => go({ view: 'now', ended: showsEnded ? '' : 'yes' })}>
          Ended sessions
        </Button>
        {showsEnded && ended.value && (
          <span class="quiet">{plural(ended.value.length, 'session')} ended</span>
        )}
      </p>
      {ended.error !== undefined && <Problem text={ended.error} />}
      {rows.length === 0 && (
        <p class="empty">
          No session is active here. Begin one in a terminal: <code>agt run --new -- claude</code>
        </p>
      )}
      <ul class="rows">
        {sorted.map((row) => (
          <SessionRow key={`${row.repository ?? ''} ${row.session_id}`} row={row} />
        ))}
      </ul>
    </main>
  );
}

function counted(rows: readonly Row[]): string {
  const folders = rows.filter(isFolder).length;
  const sessions = plural(rows.length - folders, 'session');
  return folders === 0 ? sessions : `${sessions}, ${plural(folders, 'folder')}`;
}

function SessionRow({ row }: { row: Row }) {
  const { state, words } = stateOf(row);
  const { ahead, diff, behind } = row;
  const withoutPrompt = row.from ? 'no prompt since' : 'no prompt yet';
  const mayGetOne = !isEnded(row) && !row.moved;
  return (
    <li class={`row is-${state}`}>
      <a href={hrefOf(ofSession('timeline', row))}>
        <span class={`pill is-${state}`}>{words}</span>
        <strong class="name">{nameOf(row)}</strong>
        <span class="agent quiet">
          {agentOf(row)}
          {row.repository && ` · ${placeOf(row.repository)}`}
        </span>
        <span class="prompt">
          {row.agent_state?.for && <em>{row.agent_state.for} · </em>}
          {row.agent_state?.prompt ?? row.last_prompt ?? (mayGetOne && <i class="quiet">{withoutPrompt}</i>)}
        </span>
        <Pulse values={row.pulse ?? []} />
        <span class="numbers">
          {ahead !== null && ahead > 0 && <span>{plural(ahead, 'commit')}</span>}
          {diff !== null && diff.files > 0 && (
            <span>
              {diff.in_part && 'more than '}
              {plural(diff.files, 'file')} <Lines added={diff.insertions} removed={diff.deletions} />
            </span>
          )}
          {row.new_hunks !== null && <span>{plural(row.new_hunks, 'new hunk')}</span>}
          {behind !== null && behind > 0 && <span class="quiet">{behind} behind</span>}
        </span>
        <MergeState row={row} />
        <span class="age quiet" title={`began ${row.created_at}`}>
          {isEnded(row) ? row.state_at && `ended ${ago(row.state_at)}` : ago(row.created_at)}
        </span>
      </a>
    </li>
  );
}

function MergeState({ row }: { row: Row }) {
  const { merge, merged, merged_on: mergedOn, operation, user_branch: branch, landed } = row;
  if (isEnded(row)) {
    const stands = landed && !landed.lost && !landed.elsewhere && landed.reverted_by === null;
    return <span class={`merge ${stands ? 'is-clean' : ''}`}>{landedAs(landed)}</span>;
  }
  if (operation !== null) return <span class="merge is-conflict">in a {operation}</span>;
  if (merge === 'conflict' || merge === 'refused') return <span class="merge is-conflict">{merge}</span>;
  if (merged) return <span class="merge is-clean">merged{mergedOn && ` on ${mergedOn}`}</span>;
  const into = branch ? `would merge into ${shortRef(branch)}` : 'would merge';
  return <span class="merge is-clean">{merge === 'clean' && into}</span>;
}

function Pulse({ values }: { values: readonly number[] }) {
  const most = Math.max(1, ...values);
  const sum = values.reduce((a, b) => a + b, 0);
  return (
    <svg
      class="pulse"
      viewBox={`0 0 ${Math.max(1, values.length) * 4} 20`}
      role="img"
      aria-label={`${plural(sum, 'snapshot')} in two hours`}
    >
      {values.map((value, i) => {
        const height = value === 0 ? 1 : 2 + (18 * value) / most;
        return <rect key={`${i}`} x={i * 4} y={20 - height} width="3" height={height} />;
      })}
    </svg>
  );
}
