/**
 * The page may ask these command lines of agt. Those that read are answered in this process, those that act by another
 * agt, which goes on if this one ends. The page has no logic of its own.
 */
import { spawn } from 'node:child_process';
import { AgtError, usageError } from '../errors.ts';
import { ownCommand } from '../process/invocation.ts';
import { PROGRESS, READS_PROGRESS } from '../process/progress.ts';
import { isSecret, withoutSecrets } from './secrets.ts';

export interface Answered {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Answers a command line that only reads; undefined if another agt has to. */
export type Run = (words: readonly string[], cwd: string) => Promise<Answered | undefined>;

export interface PageRequest {
  /** The session that it is about, and its repository if the page shows several. */
  readonly session?: string;
  readonly repository?: string;
  /** The command takes paths of the sandbox. */
  readonly inSandbox?: boolean;
  readonly words: readonly string[];
  /** A person has asked for contents of secret files. */
  readonly secrets?: boolean;
}

const ofSession = (words: string) => words.split(' ').map((word) => `session ${word}`);
const READING = [...ofSession('list log diff show'), 'snapshot status', 'search', 'blame'];
const REVIEW = 'session review';
const MARKS = /^--(all|reject|seen|new)\b/;
const ACTING = ofSession('restore undo redo fork accept unaccept reject sync remove');
const LABELS = ['autocommit', 'snapshot --label'];

const OPTIONS = new Set(
  'json stat turns turn number base with patch to dry-run at id keep label message session prompt all hunk split reject seen new exclude untracked committed-only'
    .split(' ')
    .map((name) => `--${name}`),
);

/** @throws AgtError for a command or an option that the page does not need. */
function checkWords(words: readonly string[]): 'reads' | 'acts' {
  const is = (commands: readonly string[]) =>
    commands.some((command) => command.split(' ').every((word, i) => words[i]?.replace(/=.*/s, '') === word));
  const end = words.indexOf('--');
  const option = words
    .slice(0, end < 0 ? words.length : end)
    .find((word) => word.startsWith('-') && !OPTIONS.has(word.replace(/=.*/s, '')));
  if (option !== undefined) throw usageError(`the page has no option "${option}"`);
  if (is(READING)) return 'reads';
  if (is([REVIEW])) return words.some((word) => MARKS.test(word)) ? 'acts' : 'reads';
  if (is([...ACTING, ...LABELS])) return 'acts';
  throw usageError(`the page has no command "${words.slice(0, 2).join(' ')}"`);
}

/** Where the command runs, and the sandbox of its session: only places that agt has listed. */
export interface RequestPlace {
  readonly cwd: string;
  readonly sandbox: string | undefined;
}

export async function answerRequest(
  { words, secrets = false }: PageRequest,
  run: Run,
  { cwd, sandbox }: RequestPlace,
  onProgress?: OnProgress,
): Promise<object> {
  const does = checkWords(words);
  const file = words[0] === 'blame' ? words.at(-1) : undefined;
  if (!secrets && file !== undefined && isSecret(file, sandbox)) return { exitCode: 0, hidden: true };
  const known = does === 'reads' ? await run(words, cwd) : undefined;
  const { exitCode, out, err } = known ?? (await runForBytes(words, cwd, onProgress));
  const text = out.toString();
  if (!words.includes('--json') || text === '') return { exitCode, err, text };
  const json: unknown = JSON.parse(text, secrets ? undefined : withoutSecrets(sandbox));
  return { exitCode, err, json };
}

/** Gets the line that a terminal would show meanwhile. */
type OnProgress = (line: string) => void;

/** Bytes of one answer. */
const MOST_BYTES = 64_000_000;

/** In a process group of its own: Ctrl-C of the page is not for a restore. */
export async function runForBytes(words: readonly string[], cwd: string, onProgress?: OnProgress) {
  const [program = '', ...args] = [...ownCommand(), ...words];
  const env = {
    ...process.env,
    FORCE_COLOR: undefined,
    NO_COLOR: '1',
    ...(onProgress && { [READS_PROGRESS]: '1' }),
  };
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const kept: Buffer[] = [];
  let size = 0;
  let err = '';
  child.stdout.on('data', (bytes: Buffer) => {
    size += bytes.length;
    if (size <= MOST_BYTES) kept.push(bytes);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err = (err + text).replace(PROGRESS, (_, line: string) => {
      if (line !== '') onProgress?.(line);
      return '';
    });
  });
  const exitCode = await new Promise<number | null>((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  );
  if (size > MOST_BYTES) throw new AgtError('the answer is too large for the page');
  return { exitCode: exitCode ?? 1, out: Buffer.concat(kept), err };
}
