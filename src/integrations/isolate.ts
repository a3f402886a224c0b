/**
 * `profile.<agent>.isolate`: the agent has all its settings in the `config/` of the session, and so in its snapshots. The
 * login is not there: agt links its files, and keeps them out of snapshots, should the agent replace a link by a file.
 */
import { existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Variables } from '../config/profiles.ts';
import { AgtError } from '../errors.ts';
import { type SessionRecord, sessionFolder } from '../session/record.ts';
import { IGNORE_FILE, readIgnoreFile } from '../snapshot/ignore-file.ts';
import type { Integration } from './integration.ts';

/** Returns the variable by which the agent finds its settings there. @throws AgtError */
export function isolateAgent(
  record: SessionRecord,
  { name, title, home, isolation }: Integration,
  env: NodeJS.ProcessEnv,
): Variables {
  if (isolation === undefined)
    throw new AgtError(`profile.${name}.isolate: ${title} has no variable that moves its settings`, {
      hints: [`unset it: git config --file ~/.agtconfig --unset profile.${name}.isolate`],
    });
  const folder = sessionFolder(record);
  const own = join(folder, 'config', name);
  const ownHome = home({ ...env, [isolation.variable]: own });
  makeWithoutLinks(folder, ownHome);
  const links = isolation.login.map((file) => join(ownHome, file));
  keepOut(
    folder,
    links.map((link) => relative(folder, link)),
  );
  for (const [i, link] of links.entries()) {
    const file = join(home(env), isolation.login[i] ?? '');
    if (existsSync(file) && lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(file, link);
  }
  return { [isolation.variable]: own };
}

/** The agent can write in the session folder: agt follows no link there. */
function makeWithoutLinks(folder: string, directory: string): void {
  if (directory === folder) return;
  makeWithoutLinks(folder, dirname(directory));
  const stat = lstatSync(directory, { throwIfNoEntry: false });
  if (stat === undefined) mkdirSync(directory, { mode: 0o700 });
  else if (!stat.isDirectory())
    throw new AgtError(`${directory} is not a directory`, {
      hints: ['remove it, and run the command again'],
    });
}

function keepOut(folder: string, paths: readonly string[]): void {
  const present = readIgnoreFile(folder);
  const missing = paths.filter((path) => present?.ignores(path, false) !== true);
  if (missing.length === 0) return;
  const ends = present === undefined || present.lines.at(-1) === '' ? '' : '\n';
  const text = `${ends}${missing.map((path) => `/${path}\n`).join('')}`;
  writeFileSync(join(folder, IGNORE_FILE), text, { flag: 'a' });
}
