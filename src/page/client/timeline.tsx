/** The life of a session: turns and their steps, newest first, under an axis. Two moments can be compared. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ACTS, useAct } from './acts.tsx';
import { askJson, type Row, type Step, type Turn } from './api.ts';
import { Axis, type Life } from './axis.tsx';
import { ago, clock, isFolder, kindOf, nameOf, plural, titleOf } from './format.ts';
import { Lines } from './now.tsx';
import { Button, go, hrefOf, ofSession, Show, useKeys, useLoaded } from './shell.tsx';

/** Steps that come at once; older ones when a person wants them. */
export const AT_ONCE = 300;

export function Timeline({ row, rows }: { row: Row; rows: readonly Row[] }) {
  const [most, setMost] = useState(AT_ONCE);
  const loaded = useLoaded(async () => {
    const number = `${most}`;
    const about = [row.session_id, '--number', number];
    const [turns, steps] = await Promise.all([
      askJson<Turn[]>(row, ['session', 'log', ...about, '--turns']),
      askJson<Step[]>(row, ['session', 'log', ...about, '--stat']),
    ]);
    return { turns, steps };
  }, [row.session_id, row.last_autocommit, most]);
  const forks = rows.filter(({ from }) => from === row.session_id);
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

interface Group {
  readonly turn: Turn | undefined;
  readonly steps: readonly Step[];
}

function inGroups(turns: readonly Turn[], steps: readonly Step[]): Group[] {
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
  const [marked, setMarked] = useState<string>();
  const { start, canAct, dialog } = useAct(row);
  const groups = useMemo(() => inGroups(turns, steps), [turns, steps]);
  const listed = groups.flatMap((group) => group.steps);
  const at = listed.findIndex(({ commit }) => commit === selected);
  const select = (step: Step | undefined) => step && setSelected(step.commit);
  const markedStep = steps.find(({ commit }) => commit === marked);
  const compare = (step: Step) => {
    if (marked === undefined || marked === step.commit)
      return setMarked(marked === undefined ? step.commit : undefined);
    const other = steps.findIndex(({ commit }) => commit === marked);
    const [a, b] = other > steps.indexOf(step) ? [marked, step.commit] : [step.commit, marked];
    go(ofSession('changes', row, { a, b }));
  };
  useKeys({
    j: () => select(listed[at + 1]),
    k: () => select(listed[Math.max(0, at - 1)]),
    m: () => listed[at] && compare(listed[at]),
    Enter: () => listed[at] && go(changesOf(row, steps, steps.indexOf(listed[at]))),
  });
  useEffect(() => {
    document.getElementById(`step-${selected}`)?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <>
      <Axis {...{ turns, steps, forks, selected }} onSelect={select} />
      {marked !== undefined && (
        <p class="hint" role="status">
          {markedStep === undefined ? 'A step' : `“${titleOf(markedStep)}”`} is chosen. Open another step and
          press Compare, or go to it with j and k and press m.{' '}
          <Button onClick={() => setMarked(undefined)}>Leave it</Button>
        </p>
      )}
      <ol class="turns">
        {groups.map(({ turn, steps: own }) => (
          <li key={own[0]?.commit} class={`turn ${turn === undefined ? 'no-turn' : ''}`}>
            {turn !== undefined && own[0]?.turn !== null && (
              <header>
                <h2>
                  <span class="quiet">Turn {turn.number}</span> {turn.prompt ?? 'no prompt'}
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
                  <Button onClick={() => start(ACTS.undoTurn(row, turn.number))}>Take back…</Button>
                )}
              </header>
            )}
            <ol>
              {own.map((step) => (
                <StepLine
                  key={step.commit}
                  step={step}
                  changes={hrefOf(changesOf(row, steps, steps.indexOf(step)))}
                  isSelected={step.commit === selected}
                  isMarked={step.commit === marked}
                  onSelect={() => select(step)}
                  onCompare={() => compare(step)}
                  onRestore={canAct ? () => start(ACTS.restore(row, step.commit)) : undefined}
                  onFork={canAct && !isFolder(row) ? () => start(ACTS.fork(row, step.commit)) : undefined}
                />
              ))}
            </ol>
          </li>
        ))}
      </ol>
      {dialog}
    </>
  );
}

/** The change of a step: from the one before to it. */
function changesOf(row: Row, steps: readonly Step[], at: number) {
  const [step, before] = [steps[at], steps[at + 1]];
  return ofSession('changes', row, {
    ...(before === undefined ? {} : { a: before.commit }),
    ...(step === undefined ? {} : { b: step.commit }),
  });
}

const SIGNS = { prompt: '›', restore: '↺', label: '⚑', failed: '✕', hand: '✎', tool: '•' } as const;

function StepLine({
  step,
  changes,
  isSelected,
  isMarked,
  onSelect,
  onCompare,
  onRestore,
  onFork,
}: {
  step: Step;
  changes: string;
  isSelected: boolean;
  isMarked: boolean;
  onSelect: () => void;
  onCompare: () => void;
  onRestore: (() => void) | undefined;
  onFork: (() => void) | undefined;
}) {
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
          <a class="button" href={changes}>
            What changed
          </a>
          <Button aria-pressed={isMarked} onClick={onCompare}>
            {isMarked ? 'Chosen' : 'Compare'}
          </Button>
          {onRestore && <Button onClick={onRestore}>Restore to here…</Button>}
          {onFork && <Button onClick={onFork}>Fork from here…</Button>}
          <code class="quiet">{step.commit.slice(0, 10)}</code>
        </p>
      )}
    </li>
  );
}
