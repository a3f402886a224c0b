/**
 * Loads agt mode (yargs, execa and the rest) only when it is asked for: from the packed executable's assets, or from
 * the file beside the bundle.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getAsset } from 'node:sea';
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
  const wrapper = `(function (exports, require, module, __filename, __dirname) {${getAsset(BUNDLE, 'utf8')}\n})`;
  const module = { exports: {} };
  const compiled = new Script(wrapper, { filename: BUNDLE }).runInThisContext();
  compiled(module.exports, requireHere, module, process.execPath, join(process.execPath, '..'));
  return (module.exports as AgtModeModule).runAgtMode;
}
