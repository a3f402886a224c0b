/** Packs the bundles and the Node binary (from its npm package) into dist/agt, and links dist/git to it. */
import { execFileSync } from 'node:child_process';
import { chmodSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import sea from '@yao-pkg/pkg/lib-es5/sea.js';

const root = join(import.meta.dirname, '..');
const output = join(root, 'dist', 'agt');
const unfinished = `${output}.${process.pid}`;

await import('./bundle.ts');

const bundles = ['frequent.cjs', 'agtmode.cjs'];
const assets = Object.fromEntries(
  [...bundles, ...bundles.map((name) => `${name}.cache`)].map((name) => [name, join(root, 'dist', name)]),
);
for (const name of bundles)
  execFileSync(process.execPath, [join(root, 'scripts', 'code-cache.ts'), join(root, 'dist', name)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });

await sea.default(join(root, 'dist', 'main.cjs'), {
  targets: [
    {
      platform: process.platform === 'darwin' ? 'macos' : process.platform === 'win32' ? 'win' : 'linux',
      arch: process.arch,
      nodeRange: `node${process.versions.node.split('.')[0]}`,
      output: unfinished,
    },
  ],
  nodePath: process.execPath,
  signature: true,
  seaConfig: {
    useCodeCache: true,
    // NODE_OPTIONS is for the user's programs, not for git.
    execArgvExtension: 'none',
    // A larger heap for young objects at the start: without it V8 collects garbage three times in a small autocommit.
    execArgv: ['--min-semi-space-size=16'],
    assets,
  },
});

chmodSync(unfinished, 0o755);
renameSync(unfinished, output);
rmSync(join(root, 'dist', 'git'), { force: true });
symlinkSync('agt', join(root, 'dist', 'git'));
