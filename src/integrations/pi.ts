/** pi. Its extension calls agt itself, and no hook does; see extensions/pi. */
import { join } from 'node:path';
import { AgtError } from '../errors.ts';
import { textOf } from './event.ts';
import { ownFile } from './install/settings.ts';
import type { Integration } from './integration.ts';

/** The text of the extension in extensions/pi; the bundler puts it here. */
declare const AGT_PI_EXTENSION: string | undefined;

const PROGRAM_LINE = "const AGT = 'agt';";

/** The extension starts one program, without a shell: the last word before `hook pi`. */
function extension(command: string): string {
  const words = [...command.matchAll(/'((?:[^']|'\\'')+)'/g)].map(([, word = '']) =>
    word.replaceAll("'\\''", "'"),
  );
  const text = typeof AGT_PI_EXTENSION === 'string' ? AGT_PI_EXTENSION : '';
  if (!text.includes(PROGRAM_LINE)) throw new AgtError('this agt has been built without the extension');
  return text.replace(PROGRAM_LINE, () => `const AGT = ${JSON.stringify(words.at(-1))};`);
}

const home: Integration['home'] = (env) => env['PI_CODING_AGENT_DIR'] || join(env['HOME'] ?? '', '.pi/agent');

export const pi: Integration = {
  name: 'pi',
  title: 'pi',
  program: 'pi',
  readEvent: (json, _env, cwd) => ({ kind: 'other', name: textOf(json, 'event') ?? '', cwd }),
  home,
  file: 'extensions/agt.ts',
  projectFile: '.pi/extensions/agt.ts',
  resume: {
    words: (id, path) => ['--session', path ?? id],
    transcript: {
      directory: (env) => env['PI_CODING_AGENT_SESSION_DIR'] || join(home(env), 'sessions'),
      prompt: /"role":"user"/,
      result: /"role":"toolResult"/,
    },
  },
  conversations: { PI_CODING_AGENT_SESSION_DIR: '{xdg}/pi' },
  injectHooks: ({ write }) => ({ words: ['-e', write('agt-pi.ts')], variables: {} }),
  settings: ownFile(extension),
};
