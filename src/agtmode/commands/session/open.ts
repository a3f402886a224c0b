import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { AgtError, EXIT } from '../../../errors.ts';
import { requireSandbox } from '../../../session/sandbox.ts';
import { defineSessionCommand } from '../../command-line/session-command.ts';
import type { Context } from '../../context.ts';

export const sessionOpen = defineSessionCommand({
  name: 'session open',
  group: 'sessions',
  summary: 'open the sandbox in your editor',
  description:
    'Start your editor with the path of the sandbox: the setting agt.editor, else $VISUAL, else $EDITOR. The setting is ' +
    'a command line, such as "code --new-window". The exit code is that of the editor.',
  runsLong: true,
  examples: [
    ['agt session open fix-login', 'open the sandbox of a session'],
    ['agt config set --global agt.editor "code --new-window"', 'choose the editor'],
  ],
  run: async (_, context, session) => {
    requireSandbox(session);
    const setting = await context.setting('agt.editor');
    const editor = setting || context.env['VISUAL'] || context.env['EDITOR'];
    if (!editor) {
      throw new AgtError('no editor is set', {
        hints: ['set one: agt config set --global agt.editor "code --new-window", or VISUAL, or EDITOR'],
      });
    }
    return runEditor(editor, session.record.sandbox, context);
  },
});

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
