/**
 * Questions of the front (agtmode/front/front-parts.ts) to a running `agt watch`. They come through a named pipe, one line
 * each: `pid hook <session> <agent>` or `pid autocommit <session or -> <tool or ->`. The answer goes to a pipe of the asking
 * process, which is found in /proc. So nothing is left of a process that was killed, and no answer reaches another one.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { makeDirectories } from '../../disk/make-directories.ts';
import { hasProc } from '../../disk/platform.ts';
import { readIfThere } from '../../disk/read-file.ts';
import { attempt } from '../../errors.ts';
import { ownFiles } from '../../git/run/find-git.ts';
import { frontDirectory, questionsPipe, watcherFile } from '../../layout.ts';
import { packed } from '../../process/invocation.ts';

/** Descriptors of a process that asks. */
export const QUESTION_FD = { reply: 4, event: 6, pipe: 7 } as const;

/** The kernel passes on so much in one piece. */
const LONGEST_ANSWER = 4096;
const LONGEST_QUESTION = 4096;

/** The front starts agt. */
const START_AGT = 'agt\n';

export interface Question {
  readonly kind: 'autocommit' | 'hook';
  /** Undefined: the session of the directory. */
  readonly session: string | undefined;
  readonly tool: string | undefined;
  /** The current directory of the asking process. */
  readonly cwd: string;
  /** The event of an agent; empty for an autocommit. */
  readonly event: string;
}

/** Lines that begin with `out`, `err` or `exit`; undefined if the front has to start agt. */
export type Answer = string | undefined;

/** Returns a function that ends it; undefined if it is not possible, or another agt answers already. */
export async function answerQuestions(
  agtDir: string,
  env: NodeJS.ProcessEnv,
  answer: (question: Question) => Promise<Answer>,
): Promise<(() => void) | undefined> {
  const { Socket } = await import('node:net');
  const settings = ['HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'AGT_GIT_PATH'].map(
    (name) => env[name] ?? '',
  );
  if (!packed || !hasProc() || settings.some((value) => value.includes('\n')) || isAnswered(agtDir))
    return undefined;
  const path = questionsPipe(agtDir);
  let fd: number;
  let own: string;
  try {
    makeDirectories(frontDirectory(agtDir));
    rmSync(path, { force: true });
    execFileSync('mkfifo', ['-m', '600', path], { stdio: 'ignore' });
    fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    own = `${[`${process.pid} ${fd}`, ...settings].join('\n')}\n`;
    writeFileAtomic(watcherFile(agtDir), own, { cache: true });
  } catch {
    return undefined; // the front starts agt as ever
  }
  const { ino } = fstatSync(fd);
  const socket = new Socket({ fd, readable: true, writable: false });
  let text = '';
  socket.on('data', (data) => {
    const lines = (text + data.toString('latin1')).split('\n');
    text = lines.pop() ?? '';
    if (text.length > LONGEST_QUESTION) text = '';
    for (const line of lines) void answerLine(line, ino, answer);
  });
  socket.on('error', () => socket.destroy());
  return () => {
    socket.destroy();
    // Another one may have begun at the same time.
    if (readIfThere(watcherFile(agtDir)) !== own) return;
    for (const file of [watcherFile(agtDir), path]) rmSync(file, { force: true });
  };
}

/** By a process that lives. */
export function isAnswered(agtDir: string): boolean {
  const [pid, fd] = (readIfThere(watcherFile(agtDir)).split('\n', 1)[0] ?? '').split(' ');
  const [own = ''] = ownFiles();
  const areSame = (one: string, other: string) => statSync(one).ino === statSync(other).ino;
  return (
    attempt(
      () => areSame(`/proc/${pid}/fd/${fd}`, questionsPipe(agtDir)) && areSame(`/proc/${pid}/exe`, own),
    ) ?? false
  );
}

async function answerLine(line: string, pipe: number, answer: (question: Question) => Promise<Answer>) {
  const asker = findAsker(line, pipe);
  if (asker === undefined) return;
  asker.say('heard\n');
  const text = await asker
    .question()
    .then(answer)
    .catch(() => undefined);
  asker.say(text === undefined || Buffer.byteLength(text) > LONGEST_ANSWER ? START_AGT : text);
}

/** `question` waits for the whole event, which comes through a pipe. */
function findAsker(line: string, pipe: number) {
  const match = /^(\d+) (autocommit|hook) ([\w.-]+) ([\w.-]+)$/.exec(line);
  if (match === null) return undefined;
  const [, pid, kind, session, tool] = match;
  const fd = (name: keyof typeof QUESTION_FD) => `/proc/${pid}/fd/${QUESTION_FD[name]}`;
  const given = (word: string | undefined) => (word === '-' ? undefined : word);
  // Undefined if it has ended.
  return attempt(() => {
    const reply = statSync(fd('reply'));
    if (!reply.isFIFO() || statSync(fd('pipe')).ino !== pipe) return undefined;
    const cwd = readlinkSync(`/proc/${pid}/cwd`);
    const question = async () => ({
      kind: kind as Question['kind'],
      session: given(session),
      tool: given(tool),
      cwd,
      event: kind === 'hook' ? await readFile(fd('event'), 'utf8') : '',
    });
    return { question, say: (text: string) => say(fd('reply'), reply.ino, text) };
  });
}

/** Another process may have the number by now. */
function say(path: string, ino: number, text: string): void {
  const fd = attempt(() => openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
  if (fd === undefined) return; // it has ended
  attempt(() => fstatSync(fd).ino === ino && writeSync(fd, text));
  closeSync(fd);
}
