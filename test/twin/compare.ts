/** Runs a command line on both sides of a twin, and compares what it prints and changes. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GIT_MODE, git, REAL_GIT } from '../harness/world.ts';
import { copyTwin, directoryOf, type Side, type Twin } from './shapes.ts';

export interface Difference {
  readonly line: string;
  readonly with: string;
  readonly none: string;
}

interface Outcome {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The git to test, which runs on the side with agt's refs, and the environment of both sides. */
export interface Subject {
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const EXECUTABLE: Subject = { program: GIT_MODE, env: { AGT_GIT_PATH: REAL_GIT } };

function runAsync(
  { program, env }: Subject,
  args: readonly string[],
  cwd: string,
  input: string,
): Promise<Outcome> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env } });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', fail);
    child.on('close', (exitCode, signal) =>
      done({
        exitCode,
        signal,
        stdout: Buffer.concat(out).toString('latin1'),
        stderr: Buffer.concat(err).toString('latin1'),
      }),
    );
    child.stdin.on('error', () => {}); // git may exit without reading its input
    child.stdin.end(input);
  });
}

/** Splits a line into words as a shell does, at blanks, with single and double quotes. */
export function words(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );
}

/** A line that starts with `!` runs in copies of both sides. ` <<< ` precedes standard input. */
export async function compareLine(
  twin: Twin,
  line: string,
  subject: Subject = EXECUTABLE,
): Promise<Difference | undefined> {
  const writes = line.startsWith('!');
  const [command = '', input = ''] = (writes ? line.slice(1) : line).split(' <<< ');
  const pair = writes ? copyTwin(twin) : twin;
  const [first, second] = await Promise.all([
    outcomeOf(pair, 'with', subject, words(command), input),
    outcomeOf(pair, 'none', { ...subject, program: REAL_GIT }, words(command), input),
  ]);
  const one = show(first, join(pair.root, 'with')) + (writes ? refsAfter(twin, pair, 'with') : '');
  const other = show(second, join(pair.root, 'none')) + (writes ? refsAfter(twin, pair, 'none') : '');
  return one === other ? undefined : { line, with: one, none: other };
}

function outcomeOf(twin: Twin, side: Side, subject: Subject, args: readonly string[], input: string) {
  return runAsync(subject, args, directoryOf(twin, side), input.replaceAll('\\n', '\n'));
}

function show(outcome: Outcome, root: string): string {
  const { exitCode, signal, stdout, stderr } = outcome;
  return `exit ${signal ?? exitCode}\n${stdout}\n--- stderr\n${stderr}`.replaceAll(root, '/ROOT');
}

/** The refs of the project and its remotes after a command that writes, without hidden refs from before. */
function refsAfter(before: Twin, after: Twin, side: Side): string {
  return ['project', 'server.git', 'fresh.git']
    .filter((name) => existsSync(join(after.root, side, name)))
    .map((name) => {
      const old = new Set(refsOf(join(before.root, 'with', name)));
      for (const shared of refsOf(join(before.root, 'none', name))) old.delete(shared);
      const isOldHidden = (line: string) => side === 'with' && old.has(line);
      return `${name}:\n${refsOf(join(after.root, side, name))
        .filter((line) => !isOldHidden(line))
        .join('\n')}\n`;
    })
    .join('');
}

function refsOf(repository: string): string[] {
  return git(repository, 'for-each-ref', '--format=%(objectname) %(refname)').split('\n');
}

/** Compares many lines, two at a time. */
export async function compareLines(
  twin: Twin,
  lines: readonly string[],
  subject: Subject = EXECUTABLE,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const waiting = [...lines];
  const worker = async () => {
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) {
      const difference = await compareLine(twin, line, subject);
      if (difference !== undefined) differences.push(difference);
    }
  };
  await Promise.all([worker(), worker()]);
  return differences;
}

/** The command line, and the first lines of output that differ. */
export function describeDifference({ line, ...sides }: Difference): string {
  const one = sides.with.split('\n');
  const other = sides.none.split('\n');
  const index = one.findIndex((text, i) => text !== other[i]);
  const from = index === -1 ? one.length : index;
  return `${line}\n  with agt:    ${one.slice(from, from + 3).join(' ⏎ ')}\n  without agt: ${other.slice(from, from + 3).join(' ⏎ ')}`;
}
