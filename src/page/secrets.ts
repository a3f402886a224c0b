/** Files whose content the page shows only if a person asks for it: keys, logins, and the agent's own settings and logs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { holdsSecrets } from '../travel/secrets.ts';

/** `path`: as commands show it, relative to the sandbox. A sandbox may have folders of these names itself. */
export function isSecret(path: string, sandbox: string | undefined): boolean {
  const [, up, top = ''] = /^(\.\.\/)?(config|xdg)\//.exec(path) ?? [];
  const isBeside =
    top !== '' && (up !== undefined || sandbox === undefined || !existsSync(join(sandbox, top)));
  return isBeside || holdsSecrets(path);
}

const CONTENT = ['text', 'content', 'patch', 'lines'];

/** For `JSON.parse`: the answer of a command without the contents of such files. */
export const withoutSecrets = (sandbox: string | undefined) => (_: string, value: unknown) => {
  if (typeof value !== 'object' || value === null || !('path' in value)) return value;
  if (typeof value.path !== 'string' || !isSecret(value.path, sandbox)) return value;
  const hidden = CONTENT.filter((name) => name in value).map((name) => [name, null]);
  return { ...value, hidden: true, ...Object.fromEntries(hidden) };
};
