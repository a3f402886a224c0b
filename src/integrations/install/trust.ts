/** Lets an agent trust the hooks of agt, and takes that back with the hooks. */
import type { Trust } from '../integration.ts';
import { bringBack, changedFile, type HooksFile, isUntouched, originalOf } from './install.ts';
import { InstalledFiles } from './installed.ts';
import { readSettingsFile } from './settings-file.ts';

interface Trusting {
  readonly stateDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly trust: Trust;
}

/** @throws AgtError if the agent refuses. */
export async function grantTrust({ stateDir, env, trust }: Trusting, file: HooksFile): Promise<void> {
  const path = trust.file(env);
  const before = readSettingsFile(path);
  await trust.grant(env, file.path);
  const files = new InstalledFiles(stateDir);
  const installed = files.read(file.tool, file.path, file.isUsers);
  const after = readSettingsFile(path);
  if (installed === undefined || after === undefined) return;
  const original = isUntouched(installed.trust, before) ? originalOf(installed.trust) : before;
  files.write({ ...installed, trust: changedFile(path, original, after) }, file.isUsers);
}

/** Before the hooks go: the agent knows them by their place. */
export async function revokeTrust({ stateDir, env, trust }: Trusting, file: HooksFile): Promise<void> {
  const installed = new InstalledFiles(stateDir).read(file.tool, file.path, file.isUsers);
  const path = trust.file(env);
  const content = readSettingsFile(path);
  const known = installed?.trust;
  if (isUntouched(known, content)) bringBack(path, content, originalOf(known));
  else if (content !== undefined) await trust.revoke(env, file.path);
}
