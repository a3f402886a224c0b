/**
 * Loads agt mode (with yargs and execa), which git mode does without: from the assets of the packed executable, with a
 * V8 code cache, or from the file beside the bundle.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getRawAsset } from 'node:sea';
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
  // If V8 rejects the cache, because it runs with other flags, it compiles the source.
  const compiled = new Script(asCommonJsFunction(asset(BUNDLE).toString('latin1')), {
    filename: BUNDLE,
    cachedData: asset(`${BUNDLE}.cache`),
  }).runInThisContext();
  const module = { exports: {} };
  compiled(module.exports, requireHere, module, process.execPath, join(process.execPath, '..'));
  return (module.exports as AgtModeModule).runAgtMode;
}

/** The bundle is plain ASCII, which takes no time to decode. */
function asset(name: string): Buffer {
  return Buffer.from(getRawAsset(name) as ArrayBuffer);
}

/** Wraps a module as CommonJS does. scripts/code-cache.ts makes the cache from the same text. */
export function asCommonJsFunction(source: string): string {
  return `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
}
