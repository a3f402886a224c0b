/** Time from left to right: turns as blocks, in them each snapshot; beside them the edits of a person, and forks. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { isSaved, type Row, type Step, type Turn } from './api.ts';
import { ago, clock, kindOf, plural, promptOf, titleOf } from './format.ts';
import { Button } from './shell.tsx';

const MINUTE = 60_000;
const SPANS = [
  ['10 min', 10 * MINUTE],
  ['1 h', 60 * MINUTE],
  ['1 day', 1_440 * MINUTE],
] as const;
const SHORTEST = 10_000;

/** A saved page has one session alone. */
const LANES = ['Agent', 'By hand', ...(isSaved ? [] : ['Forks'])];

/** Distances of lines on the axis, in seconds. */
const GRID = [1, 5, 15, 60, 300, 900, 3_600, 10_800, 43_200, 86_400, 604_800].map((s) => s * 1000);

/** In a narrow window every other one has words. */
const MOST_LINES = 8;

export interface Life {
  readonly turns: readonly Turn[];
  readonly steps: readonly Step[];
  readonly forks: readonly Row[];
}

interface AxisProps extends Life {
  readonly selected: string | undefined;
  readonly onSelect: (step: Step) => void;
}

export function Axis({ turns, steps, forks, selected, onSelect }: AxisProps) {
  const times = steps.map(({ at }) => Date.parse(at));
  const begin = Math.min(...times, ...turns.map(({ began_at }) => Date.parse(began_at)));
  const end = Math.max(...times, ...forks.map(({ created_at }) => Date.parse(created_at)));
  const edge = Math.max(SHORTEST / 4, (end - begin) / 50);
  const whole = { from: begin - edge, to: end + edge };
  const [zoom, setZoom] = useState<typeof whole>();
  const span = zoom ?? whole;
  const length = span.to - span.from;
  const place = useRef<HTMLDivElement>(null);
  const at = (time: string | number) => `${(100 * (new Date(time).getTime() - span.from)) / length}%`;
  const isLate = (time: string) => Date.parse(time) > span.from + length / 2;
  const isSeen = (from: string, to = from) => Date.parse(to) >= span.from && Date.parse(from) <= span.to;
  const scale = (factor: number, middle = span.from + length / 2) => {
    const next = Math.max(SHORTEST, length * factor);
    if (next >= whole.to - whole.from) return setZoom(undefined);
    const from = middle - ((middle - span.from) / length) * next;
    setZoom({ from, to: from + next });
  };
  const move = (part: number) => setZoom({ from: span.from + part * length, to: span.to + part * length });
  useEffect(() => {
    const element = place.current;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { left, width } = (element as HTMLElement).getBoundingClientRect();
      scale(event.deltaY > 0 ? 1.3 : 0.77, span.from + ((event.clientX - left) / width) * length);
    };
    element?.addEventListener('wheel', wheel, { passive: false });
    return () => element?.removeEventListener('wheel', wheel);
  });
  const distance = GRID.find((one) => length / one <= MOST_LINES) ?? GRID.at(-1) ?? 1;
  const first = Math.ceil(span.from / distance) * distance;
  const lines = Array.from(
    { length: Math.max(0, Math.floor((span.to - first) / distance) + 1) },
    (_, i) => first + i * distance,
  );
  /** All but the first are of use once somebody has zoomed in. */
  const tools = [
    ['Zoom in', '+', () => scale(0.5)],
    ['Zoom out', '−', () => scale(2)],
    ['Earlier', '‹', () => move(-0.5)],
    ['Later', '›', () => move(0.5)],
  ] as const;
  return (
    <div class="axis">
      <div class="zoom" role="toolbar" aria-label="Zoom">
        <Button aria-pressed={zoom === undefined} onClick={() => setZoom(undefined)}>
          All
        </Button>
        {SPANS.filter(([, ms]) => ms < whole.to - whole.from).map(([words, ms]) => (
          <Button key={words} onClick={() => setZoom({ from: whole.to - ms, to: whole.to })}>
            {words}
          </Button>
        ))}
        {tools.slice(0, zoom === undefined ? 1 : undefined).map(([label, sign, act]) => (
          <Button key={label} aria-label={label} onClick={act}>
            {sign}
          </Button>
        ))}
      </div>
      {/* All of it is in the list below, too. */}
      <div class="lanes" ref={place} aria-hidden="true">
        {lines.map((time) => (
          <div key={time} class="grid" style={{ left: at(time) }}>
            {time - span.from < 0.8 * length && gridWords(time, distance)}
          </div>
        ))}
        {LANES.map((lane) => (
          <div key={lane} class="lane">
            <span class="lane-name">{lane}</span>
            {lane === 'Agent' &&
              turns
                .filter(({ began_at, at }) => isSeen(began_at, at))
                .map((turn) => (
                  <div
                    key={turn.number}
                    class="block"
                    style={{ left: at(turn.began_at), right: `calc(100% - ${at(turn.at)})` }}
                    title={`Turn ${turn.number}: ${promptOf(turn)}\n${plural(turn.files.length, 'file')}`}
                  >
                    {promptOf(turn)}
                  </div>
                ))}
            {steps
              .filter((step) => isSeen(step.at) && laneOf(step) === lane)
              .map((step) => (
                <button
                  key={step.commit}
                  type="button"
                  tabIndex={-1}
                  class={`tick is-${kindOf(step)} ${step.commit === selected ? 'selected' : ''}`}
                  style={{ left: at(step.at) }}
                  title={`${titleOf(step)}\n${clock(step.at)}, ${ago(step.at)} ago`}
                  onClick={() => onSelect(step)}
                />
              ))}
            {lane === 'Forks' &&
              forks
                .filter(({ created_at }) => isSeen(created_at))
                .map((fork) => (
                  <span
                    key={fork.session_id}
                    class="fork"
                    style={{ left: at(fork.created_at), translate: isLate(fork.created_at) ? '-100%' : '0' }}
                  >
                    {isLate(fork.created_at) ? `${fork.session_id} ▸` : `▸ ${fork.session_id}`}
                  </span>
                ))}
          </div>
        ))}
      </div>
    </div>
  );
}

const laneOf = (step: Step) =>
  kindOf(step) === 'hand' || (step.author !== 'agent' && ['restore', 'label'].includes(kindOf(step)))
    ? 'By hand'
    : 'Agent';

function gridWords(time: number, distance: number): string {
  const date = new Date(time);
  if (distance >= 1_440 * MINUTE)
    return date.toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
  return date.toLocaleTimeString(undefined, { timeStyle: distance < MINUTE ? 'medium' : 'short' });
}
