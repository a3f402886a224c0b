/** The life of a session: turns and their steps, newest first, under an axis. Two moments can be compared. */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ACTS, canAct, start } from './acts.tsx';
import { askJson, type Row, type Step, type Turn } from './api.ts';
import { Axis, type Life } from './axis.tsx';
import { ago, clock, isFolder, kindOf, nameOf, plural, promptOf, titleOf } from './format.ts';
import { useEnded } from './now.tsx';
import { Button, go, hrefOf, Lines, ofSession, Show, useKeys, useLoaded } from './shell.tsx';

/** Steps that come at once; older ones when a person wants them. */
const AT_ONCE = 300;

export async function readSteps(row: Row, most = AT_ONCE): Promise<Step[]> {
  const log = ['session', 'log', row.session_id, '--number', `${most}`, '--stat'];
  const steps = await askJson<Step[]>(row, log);
  const begins = isFolder(row) ? 'the snapshots begin' : 'the session begins';
  return steps.map((step, i) => (i === steps.length - 1 && i < most - 1 ? { ...step, begins } : step));
}

export function Timeline({ row, rows }: { row: Row; rows: readonly Row[] }) {
  const [most, setMost] = useState(AT_ONCE);
  const loaded = useLoaded(async () => {
    const [turns, steps] = await Promise.all([
      askJson<Turn[]>(row, ['session', 'log', row.session_id, '--number', `${most}`, '--turns']),
      readSteps(row, most),
    ]);
    return { turns, steps };
  }, [row.session_id, row.last_autocommit, most]);
  // The steps come first.
  const ended = useEnded(loaded.value !== undefined, rows);
  const forks = [...rows, ...(ended.value ?? [])].filter(
    ({ from, repository }) => from === row.session_id && repository === row.repository,
  );
  return (
    <main>
      <h1 class="unseen">Timeline of {nameOf(row)}</h1>
      <Show of={loaded}>
        {({ turns, steps }) =>
          steps.length === 0 ? (
            <p class="empty">There are no snapshots yet: agt makes one at each step of the agent.</p>
          ) : (
            <>
              <Steps {...{ row, turns, steps, forks }} />
              {steps.length >= most && (
                <Button class="more" onClick={() => setMost(most * 8)}>
                  Show earlier steps
                </Button>
              )}
            </>
          )
        }
      </Show>
    </main>
  );
}

function inGroups(turns: readonly Turn[], steps: readonly Step[]) {
  const byNumber = new Map(turns.map((turn) => [turn.number, turn]));
  const groups: { turn: Turn | undefined; steps: Step[] }[] = [];
  for (const step of steps) {
    if (kindOf(step) === 'prompt') continue; // the turn begins with it
    const turn = step.turn === null ? undefined : byNumber.get(step.turn);
    const last = groups.at(-1);
    if (last !== undefined && last.turn === turn) last.steps.push(step);
    else groups.push({ turn, steps: [step] });
  }
  return groups;
}

function Steps({ row, turns, steps, forks }: Life & { row: Row }) {
  const [selected, setSelected] = useState<string>();
  const [marked, setMarked] = useState<Step>();
  const groups = useMemo(() => inGroups(turns, steps), [turns, steps]);
  const listed = groups.flatMap((group) => group.steps);
  const at = listed.findIndex(({ commit }) => commit === selected);
  const select = (step: Step | undefined) => step && setSelected(step.commit);
  const isMarked = ({ commit }: Step) => commit === marked?.commit;
  const compare = (step: Step) => {
    if (marked === undefined || isMarked(step)) return setMarked(marked === undefined ? step : undefined);
    const [a, b] = steps.findIndex(isMarked) > steps.indexOf(step) ? [marked, step] : [step, marked];
    go(ofSession('changes', row, { a: a.commit, b: b.commit }));
  };
  useKeys({
    j: () => select(listed[at + 1]),
    k: () => select(listed[Math.max(0, at - 1)]),
    m: () => listed[at] && compare(listed[at]),
    Enter: () => listed[at] && go(changesOf(row, steps, listed[at])),
  });
  useEffect(() => {
    document.getElementById(`step-${selected}`)?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <>
      <Axis {...{ turns, steps, forks, selected }} onSelect={select} />
      {marked !== undefined && (
        <p class="hint" role="status">
          “{titleOf(marked)}” is chosen. Open another step and press Compare, or go to it with j and k and
          press m. <Button onClick={() => setMarked(undefined)}>Do not compare</Button>
        </p>
      )}
      <ol class="turns">
        {groups.map(({ turn, steps: own }) => (
          <li key={own[0]?.commit} class={`turn ${turn === undefined ? 'no-turn' : ''}`}>
            {turn !== undefined && own[0]?.turn !== null && (
              <header>
                <h2>
                  <span class="quiet">Turn {turn.number}</span> {promptOf(turn)}
                </h2>
                <p class="quiet">
                  {turn.agent ?? 'an agent'} · {ago(turn.at)} ago · {plural(turn.calls, 'call')}
                  {turn.failed_calls > 0 && <span class="minus"> · {turn.failed_calls} failed</span>} ·{' '}
                  <a href={hrefOf(ofSession('changes', row, { turn: `${turn.number}` }))}>
                    {plural(turn.files.length, 'file')}
                  </a>{' '}
                  <Lines added={turn.insertions} removed={turn.deletions} />
                </p>
                {canAct && turn.files.length > 0 && (
                  <Button onClick={() => start(row, ACTS.undoTurn(row, turn.number))}>Take back…</Button>
                )}
              </header>
            )}
            <ol>
              {own.map((step) => (
                <StepLine
                  key={step.commit}
                  step={step}
                  isSelected={step.commit === selected}
                  isMarked={isMarked(step)}
                  onSelect={() => select(step)}
                >
                  <a class="button" href={hrefOf(changesOf(row, steps, step))}>
                    What changed
                  </a>
                  <Button aria-pressed={isMarked(step)} onClick={() => compare(step)}>
                    {isMarked(step) ? 'Chosen' : 'Compare'}
                  </Button>
                  {canAct && (
                    <Button onClick={() => start(row, restoreTo(row, step))}>Restore to here…</Button>
                  )}
                  {canAct && !isFolder(row) && (
                    <Button onClick={() => start(row, ACTS.fork(row, step.commit))}>Fork from here…</Button>
                  )}
                </StepLine>
              ))}
            </ol>
          </li>
        ))}
      </ol>
    </>
  );
}

const restoreTo = (row: Row, step: Step) =>
  ACTS.restore(row, step.commit, `Restore everything to “${titleOf(step)}”, ${ago(step.at)} ago`);

/** The change of a step: from the one before to it. */
function changesOf(row: Row, steps: readonly Step[], step: Step) {
  const before = step.begins ? step.commit : (steps[steps.indexOf(step) + 1]?.commit ?? `${step.commit}~1`);
  return ofSession('changes', row, { a: before, b: step.commit });
}

const SIGNS = { prompt: '›', restore: '↺', label: '⚑', failed: '✕', hand: '✎', tool: '•' } as const;

interface StepLineProps {
  readonly step: Step;
  readonly isSelected: boolean;
  readonly isMarked: boolean;
  readonly onSelect: () => void;
  readonly children: ComponentChildren;
}

function StepLine({ step, isSelected, isMarked, onSelect, children }: StepLineProps) {
  const kind = kindOf(step);
  const names = step.files.map(({ path }) => path);
  return (
    <li
      id={`step-${step.commit}`}
      class={`step is-${kind} ${isSelected ? 'selected' : ''} ${isMarked ? 'marked' : ''}`}
    >
      <Button class="what" aria-pressed={isSelected} onClick={onSelect} title={names.slice(0, 20).join('\n')}>
        <span class="sign" aria-hidden="true">
          {SIGNS[kind]}
        </span>
        <span class="title">
          {isMarked && <span class="pill is-waits">chosen</span>} {titleOf(step)}
        </span>
        <span class="quiet">
          {names.length === 0 ? '' : names.length === 1 ? names[0] : plural(names.length, 'file')}
        </span>
        <time class="quiet" dateTime={step.at} title={clock(step.at)}>
          {new Date(step.at).toLocaleTimeString()}
        </time>
      </Button>
      {isSelected && (
        <p class="buttons">
          {children}
          <code class="quiet">{step.commit.slice(0, 10)}</code>
        </p>
      )}
    </li>
  );
}
