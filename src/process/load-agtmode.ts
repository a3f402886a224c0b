/**
 * Loads agt mode (yargs, execa and the rest) only when it is asked for: from the packed executable's assets, with V8's
 * code cache, or from the file beside the bundle.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getAsset, getRawAsset } from 'node:sea';
import { Script } from 'node:vm';
import { packed } from './invocation.ts';

export type AgtMode = (args: string[]) => Promise<number>;

const BUNDLE = 'agtmode.cjs';

interface AgtModeModule {
  runAgtMode: AgtMode;
}

export function loadAgtMode(): AgtMode {
  const requireHere = createRequire(packed ? process.execPath : __filename);
  if (!packed) return (requireHere(join(__dirname, BUNDLE)) as AgtModeModule).runAgtMode;
  // A cache that V8 does not take (other flags) costs a compilation and nothing else.
  const cachedData = Buffer.from(getRawAsset(`${BUNDLE}.cache`) as ArrayBuffer);
  const compiled = new Script(wrapped(getAsset(BUNDLE, 'utf8')), {
    filename: BUNDLE,
    cachedData,
  }).runInThisContext();
  const module = { exports: {} };
  compiled(module.exports, requireHere, module, process.execPath, join(process.execPath, '..'));
  return (module.exports as AgtModeModule).runAgtMode;
}

/** As CommonJS wraps a module; scripts/build.ts makes the cache from the same text. */
export function wrapped(source: string): string {
  return `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
}
