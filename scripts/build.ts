/** Packs the bundles and the Node binary (from its npm package) into dist/agt, and links dist/git to it. */
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { packForHost } from './packaging/executable.ts';

const dist = join(import.meta.dirname, '..', 'dist');

await import('./bundle.ts');
await packForHost(join(dist, 'agt'));
rmSync(join(dist, 'git'), { force: true });
symlinkSync('agt', join(dist, 'git'));
