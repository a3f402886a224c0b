/** Lines of code and of patches. */
import { useState } from 'preact/hooks';
import { highlight, type Part } from './highlight.ts';
import { type Hunk, inPairs, type Patch, type PatchLine } from './patch.ts';
import { Button } from './shell.tsx';

/** Lines of a file that are shown at once. */
const MOST_LINES = 1_500;

function Text({ parts }: { parts: readonly Part[] | undefined }) {
  return (
    <code>
      {parts?.map(({ text, cls }, i) =>
        cls === '' ? (
          text
        ) : (
          <span key={`${i}`} class={cls}>
            {text}
          </span>
        ),
      )}
    </code>
  );
}

const MARK = { same: ' ', added: '+', removed: '−' } as const;

export function PatchView({ patch, path, isSplit }: { patch: Patch; path: string; isSplit: boolean }) {
  const [most, setMost] = useState(MOST_LINES);
  let shown = 0;
  const hunks = patch.hunks.filter(({ lines }) => {
    shown += lines.length;
    return shown - lines.length < most;
  });
  const total = patch.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  return (
    <>
      {patch.notes.map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
      {hunks.map((hunk, i) => (
        <HunkView key={`${i}`} hunk={hunk} path={path} isSplit={isSplit} most={most} />
      ))}
      {total > most && (
        <Button class="more" onClick={() => setMost(most * 4)}>
          Show more of {total} lines
        </Button>
      )}
    </>
  );
}

function HunkView({
  hunk,
  path,
  isSplit,
  most,
}: {
  hunk: Hunk;
  path: string;
  isSplit: boolean;
  most: number;
}) {
  const lines = hunk.lines.slice(0, most);
  const side = (without: PatchLine['kind']) => {
    const own = lines.filter(({ kind }) => kind !== without);
    const parts = highlight(
      path,
      own.map(({ text }) => text),
    );
    return new Map(own.map((line, i) => [line, parts[i]]));
  };
  const [before, after] = [side('added'), side('removed')];
  const partsOf = (line: PatchLine) => (line.kind === 'removed' ? before : after).get(line);
  const cls = (line: PatchLine | undefined) =>
    line === undefined ? 'nothing' : `${line.kind}${line.moved ? ' moved' : ''}`;
  const cells = (line: PatchLine | undefined, number: number | undefined) => (
    <>
      <td class="number">{number}</td>
      <td class={`text ${cls(line)}`}>
        {line !== undefined && (
          <>
            <span class="mark">{MARK[line.kind]}</span>
            <Text parts={partsOf(line)} />
          </>
        )}
      </td>
    </>
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a person scrolls it by keys
    <section class="scroll" tabIndex={0} aria-label={`lines of ${path}`}>
      <table class={`code ${isSplit ? 'split' : 'unified'}`}>
        <caption>{hunk.heading || '…'}</caption>
        <tbody>
          {isSplit
            ? inPairs(lines).map(([old, next], i) => (
                <tr key={`${i}`}>
                  {cells(old, old?.old)}
                  {cells(next, next?.new)}
                </tr>
              ))
            : lines.map((line, i) => (
                <tr key={`${i}`}>
                  <td class="number">{line.old}</td>
                  {cells(line, line.new)}
                </tr>
              ))}
        </tbody>
      </table>
    </section>
  );
}

export interface Origin {
  readonly words: string;
  readonly title: string;
}

/** A whole file, and beside each line where it comes from. */
export function FileView({
  path,
  text,
  origins,
}: {
  path: string;
  text: string;
  origins: readonly (Origin | undefined)[] | undefined;
}) {
  const [most, setMost] = useState(MOST_LINES);
  const lines = text.replace(/\n$/, '').split('\n');
  const parts = highlight(path, lines.slice(0, most));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a person scrolls it by keys */}
      <section class="scroll" tabIndex={0} aria-label={`lines of ${path}`}>
        <table class="code">
          <tbody>
            {parts.map((line, i) => (
              <tr key={`${i}`}>
                {origins !== undefined && (
                  <td class="origin" title={origins[i]?.title}>
                    {origins[i]?.words === origins[i - 1]?.words ? '' : origins[i]?.words}
                  </td>
                )}
                <td class="number">{i + 1}</td>
                <td class="text">
                  <Text parts={line} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {lines.length > most && (
        <Button class="more" onClick={() => setMost(most * 4)}>
          Show more of {lines.length} lines
        </Button>
      )}
    </>
  );
}
