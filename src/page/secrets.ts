/** Files whose content the page shows only if a person asks for it: keys, logins, and the agent's own settings and logs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { holdsSecrets } from '../travel/secret-values.ts';

/** `path`: as commands show it, relative to the sandbox. A sandbox may have folders of these names itself. */
export function isSecret(path: string, sandbox: string | undefined): boolean {
  const [, up, top = ''] = /^(\.\.\/)?(config|xdg)\//.exec(path) ?? [];
  const isBeside =
    top !== '' && (up !== undefined || sandbox === undefined || !existsSync(join(sandbox, top)));
  return isBeside || holdsSecrets(path);
}

const CONTENT = ['text', 'content', 'patch', 'lines'];

/** The answers of commands, without the contents of such files. */
export function withoutSecrets(json: unknown, sandbox: string | undefined): unknown {
  if (Array.isArray(json)) return json.map((one) => withoutSecrets(one, sandbox));
  if (typeof json !== 'object' || json === null) return json;
  const { path } = json as { path?: unknown };
  const isHidden = typeof path === 'string' && isSecret(path, sandbox);
  return Object.fromEntries(
    Object.entries(isHidden ? { ...json, hidden: true } : json).map(([name, value]) =>
      isHidden && CONTENT.includes(name) ? [name, null] : [name, withoutSecrets(value, sandbox)],
    ),
  );
}
