/** Runs agt mode's bundle once, as far as its own top level, and keeps what V8 compiled: `node code-cache.ts IN OUT`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';
import { wrapped } from '../src/load.ts';

const [input, output] = process.argv.slice(2) as [string, string];
const script = new Script(wrapped(readFileSync(input, 'utf8')), { filename: 'agtmode.cjs' });
const module: { exports: { runAgtMode?: (args: string[]) => Promise<number> } } = { exports: {} };
script.runInThisContext()(module.exports, createRequire(input), module, input, '.');
// What a common command needs is compiled too.
process.stdout.write = () => true;
await module.exports.runAgtMode?.(['session', 'list', '--help']);
writeFileSync(output, script.createCachedData());
