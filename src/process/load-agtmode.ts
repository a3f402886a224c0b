/**
 * Loads agt mode, which git mode does without: from the assets of the packed executable, with a V8 code cache, or from the
 * file beside the bundle. One bundle has the commands that agents call all the time, the other one all of them.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getRawAsset } from 'node:sea';
import { Script } from 'node:vm';
import { packed } from './invocation.ts';

/** The words that src/agtmode/frequent.ts knows. */
const FREQUENT = ['autocommit', 'hook'];

/** Undefined for a command line that this bundle does not understand. */
type AgtMode = (args: string[]) => Promise<number | undefined>;

export async function runAgtMode(args: string[]): Promise<number> {
  const isFrequent = FREQUENT.includes(args[0] ?? '');
  const exitCode = isFrequent ? await loadBundle('frequent.cjs')(args) : undefined;
  return exitCode ?? (await loadBundle('agtmode.cjs')(args)) ?? 0;
}

/** Its `runAgtMode`. Startup does not count in one without a code cache. */
export function loadBundle(name: string, hasCache = true): AgtMode {
  const requireHere = createRequire(packed ? process.execPath : __filename);
  if (!packed) return (requireHere(join(__dirname, name)) as { runAgtMode: AgtMode }).runAgtMode;
  // If V8 rejects the cache, because it runs with other flags, it compiles the source.
  const compiled = new Script(asCommonJsFunction(asset(name).toString('latin1')), {
    filename: name,
    ...(hasCache && { cachedData: asset(`${name}.cache`) }),
  }).runInThisContext();
  const module = { exports: {} };
  compiled(module.exports, requireHere, module, process.execPath, join(process.execPath, '..'));
  return (module.exports as { runAgtMode: AgtMode }).runAgtMode;
}

/** The bundle is plain ASCII, which takes no time to decode. */
function asset(name: string): Buffer {
  return Buffer.from(getRawAsset(name) as ArrayBuffer);
}

/** Wraps a module as CommonJS does. scripts/code-cache.ts makes the cache from the same text. */
export function asCommonJsFunction(source: string): string {
  return `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
}
