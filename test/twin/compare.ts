/** Runs one command line on both sides of a twin and says where they differ. */
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

/** What stands for git on the side that has agt's refs, and the environment of both sides. */
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
    child.stdin.on('error', () => {}); // a git that reads no input has gone
    child.stdin.end(input);
  });
}

/** Words as a shell would split them: blanks, single quotes, double quotes. */
export function words(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );
}

/** A line that starts with `!` writes: it gets copies. `<<< text` gives standard input. */
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
  const one = show(first, join(pair.root, 'with')) + (writes ? stateAfter(twin, pair, 'with') : '');
  const other = show(second, join(pair.root, 'none')) + (writes ? stateAfter(twin, pair, 'none') : '');
  return one === other ? undefined : { line, with: one, none: other };
}

function outcomeOf(twin: Twin, side: Side, subject: Subject, args: readonly string[], input: string) {
  return runAsync(subject, args, directoryOf(twin, side), input.replaceAll('\\n', '\n'));
}

function show(outcome: Outcome, root: string): string {
  const { exitCode, signal, stdout, stderr } = outcome;
  return `exit ${signal ?? exitCode}\n${stdout}\n--- stderr\n${stderr}`.replaceAll(root, '/ROOT');
}

/** Refs of the project and of its remotes after a writing command, without the hidden ones that were there before. */
function stateAfter(before: Twin, after: Twin, side: Side): string {
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

/** All differences among many lines, a few at a time. */
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

/** The line and the first place where the two part. */
export function describeDifference({ line, ...sides }: Difference): string {
  const one = sides.with.split('\n');
  const other = sides.none.split('\n');
  const at = one.findIndex((text, i) => text !== other[i]);
  const from = at === -1 ? one.length : at;
  return `${line}\n  with agt:    ${one.slice(from, from + 3).join(' ⏎ ')}\n  without agt: ${other.slice(from, from + 3).join(' ⏎ ')}`;
}
