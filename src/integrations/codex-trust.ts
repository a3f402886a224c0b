/**
 * Codex skips hooks that the user has not reviewed, without a word. Its own server says which hooks there are, with the
 * digest to trust, and stores it in config.toml. agt never computes a digest itself.
 */
import { join } from 'node:path';
import { AgtError } from '../errors.ts';
import { type Call, withAppServer } from './app-server.ts';
import { callsHook } from './install/settings.ts';
import type { Trust } from './integration.ts';

interface Hook {
  readonly key: string;
  readonly command?: string;
  readonly sourcePath: string;
  readonly currentHash: string;
  readonly trustStatus: string;
}

export function codexHome(env: NodeJS.ProcessEnv): string {
  return env['CODEX_HOME'] || join(env['HOME'] ?? '', '.codex');
}

export function codexTrust(tool: string): Trust {
  const listOurs = async (call: Call, path: string): Promise<readonly Hook[]> => {
    const answer = (await call('hooks/list', { cwds: ['/'] })) as { data?: { hooks?: Hook[] }[] };
    const hooks = answer.data?.flatMap(({ hooks = [] }) => hooks) ?? [];
    return hooks.filter(({ command, sourcePath }) => sourcePath === path && callsHook(command, tool));
  };
  const areTrusted = (hooks: readonly Hook[]) =>
    hooks.length > 0 && hooks.every(({ trustStatus }) => trustStatus === 'trusted');
  return {
    file: (env) => join(codexHome(env), 'config.toml'),
    isTrusted: (env, path) => withAppServer(env, async (call) => areTrusted(await listOurs(call, path))),
    grant: (env, path) =>
      withAppServer(env, async (call) => {
        const hooks = await listOurs(call, path);
        const value = Object.fromEntries(
          hooks.map(({ key, currentHash }) => [key, { trusted_hash: currentHash }]),
        );
        await call('config/batchWrite', {
          edits: [{ keyPath: 'hooks.state', mergeStrategy: 'upsert', value }],
        });
        if (!areTrusted(await listOurs(call, path))) throw new AgtError('Codex does not trust the hooks yet');
      }),
    revoke: (env, path) =>
      withAppServer(env, async (call) => {
        const hooks = await listOurs(call, path);
        const edits = hooks.map(({ key }) => ({
          keyPath: `hooks.state.${JSON.stringify(key)}`,
          mergeStrategy: 'replace',
          value: null,
        }));
        if (edits.length > 0) await call('config/batchWrite', { edits });
      }),
  };
}
