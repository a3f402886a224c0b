/** Lines of code and of patches. */
import type { ComponentChildren } from 'preact';
import { highlight, type Part } from './highlight.ts';
import { type Hunk, inPairs, type Patch, type PatchLine } from './patch.ts';
import { Many } from './shell.tsx';

/** Lines of a file that are shown at once. */
const MOST_LINES = 1_500;

const Text = ({ parts }: { parts: readonly Part[] | undefined }) => (
  <code>
    {parts?.map(({ text, cls }, i) => (
      <span key={`${i}`} class={cls}>
        {text}
      </span>
    ))}
  </code>
);

interface CodeProps {
  readonly path: string;
  readonly cls?: string;
  readonly heading?: string;
  readonly children: ComponentChildren;
}

const Code = ({ path, cls = '', heading, children }: CodeProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a person scrolls it by keys
  <section class="scroll" tabIndex={0} aria-label={`lines of ${path}`}>
    <table class={`code ${cls}`}>
      {heading !== undefined && <caption>{heading || '…'}</caption>}
      <tbody>{children}</tbody>
    </table>
  </section>
);

interface PatchProps {
  readonly patch: Patch;
  readonly path: string;
  readonly isSplit: boolean;
}

export const PatchView = ({ patch, path, isSplit }: PatchProps) => (
  <>
    {patch.notes.map((note) => (
      <p key={note} class="note">
        {note}
      </p>
    ))}
    <Many all={patch.hunks}>
      {(hunk, i) => <HunkView key={`${i}`} {...hunk} path={path} isSplit={isSplit} />}
    </Many>
  </>
);

const MARK = { same: ' ', added: '+', removed: '−' } as const;

function HunkView({ lines, heading, path, isSplit }: Hunk & Omit<PatchProps, 'patch'>) {
  const side = (without: PatchLine['kind']) => {
    const own = lines.filter(({ kind }) => kind !== without);
    const texts = own.map(({ text }) => text);
    const parts = highlight(path, texts);
    return new Map(own.map((line, i) => [line, parts[i]]));
  };
  const [before, after] = [side('added'), side('removed')];
  const cells = (line: PatchLine | undefined, number: number | undefined) => (
    <>
      <td class="number">{number}</td>
      <td class={`text ${line === undefined ? 'nothing' : `${line.kind}${line.moved ? ' moved' : ''}`}`}>
        {line !== undefined && (
          <>
            <span class="mark">{MARK[line.kind]}</span>
            <Text parts={(line.kind === 'removed' ? before : after).get(line)} />
          </>
        )}
      </td>
    </>
  );
  const pairs = isSplit ? inPairs(lines) : lines.map((line) => [line, line] as const);
  return (
    <Code path={path} cls={isSplit ? 'split' : ''} heading={heading}>
      <Many all={pairs} first={MOST_LINES} in="table">
        {([old, next], i) => (
          <tr key={`${i}`}>
            {isSplit ? cells(old, old?.old) : <td class="number">{old?.old}</td>}
            {cells(next, next?.new)}
          </tr>
        )}
      </Many>
    </Code>
  );
}

export interface Origin {
  readonly words: string;
  readonly title: string;
}

interface FileProps {
  readonly path: string;
  readonly text: string;
  readonly origins: readonly Origin[] | undefined;
}

/** A whole file, and beside each line where it comes from. */
export const FileView = ({ path, text, origins }: FileProps) => (
  <Code path={path}>
    <Many all={highlight(path, text.replace(/\n$/, '').split('\n'))} first={MOST_LINES} in="table">
      {(line, i) => (
        <tr key={`${i}`}>
          {origins !== undefined && (
            <td class="origin" title={origins[i]?.title} tabIndex={-1}>
              {origins[i]?.words === origins[i - 1]?.words ? '' : origins[i]?.words}
            </td>
          )}
          <td class="number">{i + 1}</td>
          <td class="text">
            <Text parts={line} />
          </td>
        </tr>
      )}
    </Many>
  </Code>
);
