/** agt session path, open and env: the ways into a sandbox. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { AgtError, EXIT, usageError } from '../../../errors.ts';
import { shellQuote } from '../../../process/shell-quote.ts';
import type { EnvironmentChanges } from '../../../running/environment.ts';
import { unfinishedError } from '../../../session/operation.ts';
import { connectAgain } from '../../../session/relocate.ts';
import { requireSandbox } from '../../../session/sandbox.ts';
import type { Session } from '../../../session/session.ts';
import {
  defineCommand,
  defineSessionCommand,
  option,
  sessionInRepository,
} from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { changesFor, requireRunnable } from '../../running.ts';
import { bundleNamed, openFile } from './bundle.ts';

export const sessionPath = defineSessionCommand({
  name: 'session path',
  summary: 'print the path of the sandbox',
  examples: [['cd "$(agt session path fix-login)"', 'go to the sandbox']],
  run: async (_args, _context, session) => {
    requireEntry(session);
    const { checkout, sandbox } = session.record;
    return { text: `${checkout ?? sandbox}\n` };
  },
});

/** Nobody is to work in a sandbox that agt has not made to its end. */
function requireEntry(session: Session): void {
  const { session_id: id, intent } = session.record;
  if (intent?.operation === 'create') throw unfinishedError(id, 'create');
  requireSandbox(session);
}

/** As git starts an editor: by the shell, in the foreground. Ctrl-C is for the editor. */
function runEditor(editor: string, sandbox: string, { env }: Context): Promise<number> {
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  return new Promise<number>((resolve, reject) => {
    const words = ['-c', `${editor} "$@"`, editor, sandbox];
    const child = spawn('/bin/sh', words, { cwd: sandbox, env, stdio: 'inherit' });
    child.on('error', (error) => reject(new AgtError(`cannot start the editor: ${error.message}`)));
    child.on('close', (code, signal) =>
      resolve(code ?? 128 + (signal ? constants.signals[signal] : EXIT.failed)),
    );
  }).finally(() => process.off('SIGINT', ignore));
}

export const sessionOpen = defineCommand({
  usage: 'session open [id]',
  summary: 'open the sandbox in your editor, or a session that is in a file',
  description:
    'Start your editor with the path of the sandbox: the setting agt.editor, else $VISUAL, else $EDITOR. The setting is ' +
    'a command line, such as "code --new-window". The exit code is that of the editor. A file of agt session bundle ' +
    'becomes a session here, which then goes on as any other. A file whose name is also that of a session is ./NAME.',
  positionals: {
    id: option.value('session id (default: the session of the current directory), or a file'),
  },
  options: {
    ...option.shared('session'),
    as: option.value('give the session of a file this id'),
    ...option.shared('dry-run', 'quiet', 'json'),
  },
  runsLong: true,
  examples: [
    ['agt session open fix-login', 'open the sandbox of a session'],
    ['agt config set --global agt.editor "code --new-window"', 'choose the editor'],
    ['agt session open fix-login.agt', 'go on with the session of a colleague'],
  ],
  run: async (args, context) => {
    const file = args.id === undefined ? undefined : await bundleNamed(context, args.id);
    if (file !== undefined) return openFile(context, file, args);
    if (args.as !== undefined)
      throw usageError(`"${args.id ?? ''}" is no file`, 'for example: agt session open x.agt --as x');
    const session = await connectAgain(await sessionInRepository(context, args));
    requireEntry(session);
    const setting = await context.setting('agt.editor');
    const editor = setting || context.env['VISUAL'] || context.env['EDITOR'];
    const hints = ['set one: agt config set --global agt.editor "code --new-window", or VISUAL, or EDITOR'];
    if (!editor) throw new AgtError('no editor is set', { hints });
    return runEditor(editor, session.record.sandbox, context);
  },
});

export const sessionEnv = defineSessionCommand({
  name: 'session env',
  summary: 'print the environment of agt session run, for eval in a shell',
  options: {
    ...option.shared('profile'),
    shell: {
      ...option.choice(['sh', 'fish'], 'whose syntax to print; sh is also for bash and zsh'),
      default: 'sh',
    },
    ...option.shared('json'),
  },
  examples: [['eval "$(agt session env fix-login)"', 'work in this shell as agt session run would']],
  run: async (args, context, session) => {
    requireRunnable(session);
    const changes = await changesFor(context, session.record, args.profile);
    return { json: changes, text: args.shell === 'fish' ? fishText(changes) : shText(changes) };
  },
});

function shText({ set, unset }: EnvironmentChanges): string {
  const exports = Object.entries(set).map(([name, value]) => `export ${name}=${shellQuote(value)}\n`);
  return [...unset.map((name) => `unset ${name}\n`), ...exports].join('');
}

/** In quotes, fish reads a backslash and a quote after a backslash. */
function fishText({ set, unset }: EnvironmentChanges): string {
  const quoted = (value: string) => `'${value.replace(/[\\']/g, '\\$&')}'`;
  const words = (name: string, value: string) =>
    name === 'PATH' ? value.split(':').map(quoted).join(' ') : quoted(value);
  const exports = Object.entries(set).map(([name, value]) => `set -gx ${name} ${words(name, value)}\n`);
  return [...unset.map((name) => `set -e ${name}\n`), ...exports].join('');
}
