/** One executable: Node's binary with the bundles inside. */
import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Script } from 'node:vm';
import sea from '@yao-pkg/pkg/lib-es5/sea.js';
import { inject } from 'postject';
import { signMachO } from './mach-o-signature.ts';
import { nodePackage } from './node-binary.ts';
import { HOST, type Target } from './targets.ts';

const root = join(import.meta.dirname, '..', '..');
const dist = join(root, 'dist');

const START = join(import.meta.dirname, 'start.cjs');
const BUNDLES = ['main.cjs', 'frequent.cjs', 'agtmode.cjs'];
const UNCACHED = ['mcp.cjs', 'page.js', 'page.css'];
const CACHES = BUNDLES.map((name) => `${name}.cache`);
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const CONFIG = {
  // NODE_OPTIONS is for the user's programs, not for git.
  execArgvExtension: 'none',
  // A larger heap for young objects at the start: without it V8 collects garbage three times in a small autocommit.
  execArgv: ['--min-semi-space-size=16'],
};

/** Writes the executable for the own system to `output`. The bundles are there. */
export async function packForHost(output: string): Promise<void> {
  await Promise.all(BUNDLES.map((name) => writeCodeCache(join(dist, name))));
  await packWithCaches(output);
}

/** The code caches are there, too. */
export async function packWithCaches(output: string): Promise<void> {
  const unfinished = `${output}.${process.pid}`;
  await sea.default(START, {
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
      ...CONFIG,
      assets: assets([...BUNDLES, ...UNCACHED, ...CACHES]),
    },
  });
  chmodSync(unfinished, 0o755);
  renameSync(unfinished, output);
}

/**
 * The same for another system. V8 can write a code cache only for the processor that it runs on, so this executable takes
 * some milliseconds more to start than one that is built on that system.
 */
export async function packForOther(target: Target, output: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'agt-pack-'));
  try {
    const config = join(work, 'config.json');
    const blob = join(work, 'blob');
    const unfinished = join(work, 'agt');
    const noCache = join(work, 'no-cache');
    writeFileSync(noCache, '');
    const settings = {
      main: START,
      output: blob,
      disableExperimentalSEAWarning: true,
      assets: {
        ...assets([...BUNDLES, ...UNCACHED]),
        ...Object.fromEntries(CACHES.map((name) => [name, noCache])),
      },
    };
    writeFileSync(config, JSON.stringify({ ...CONFIG, ...settings }));
    execFileSync(process.execPath, ['--experimental-sea-config', config], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    copyFileSync(join(nodePackage(target), 'bin', 'node'), unfinished);
    chmodSync(unfinished, 0o755);
    await inject(unfinished, 'NODE_SEA_BLOB', readFileSync(blob), {
      sentinelFuse: FUSE,
      machoSegmentName: 'NODE_SEA',
    });
    if (target.platform === 'darwin') writeFileSync(unfinished, signMachO(readFileSync(unfinished), 'agt'));
    copyFileSync(unfinished, output);
  } finally {
    rmSync(work, { recursive: true });
  }
}

export function pack(target: Target, output: string): Promise<void> {
  return target.name === HOST ? packForHost(output) : packForOther(target, output);
}

function assets(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, join(dist, name)]));
}

/** Where the header of a code cache names the flags that V8 ran with. */
const FLAGS = { start: 12, end: 16 };

/**
 * For equal caches from equal sources: V8 orders its tables by a seed, and as long as it collects no garbage, the bytes
 * between its objects are zeros.
 */
const DETERMINISTIC = [
  '--hash-seed=1',
  '--random-seed=1',
  '--single-threaded',
  '--min-semi-space-size=512',
  '--max-semi-space-size=512',
  '--initial-heap-size=3000',
];

const MOST_TRIES = 6;

/** Other programs on the machine can have one more function run: two tries have to agree. */
async function writeCodeCache(bundle: string): Promise<void> {
  const file = `${bundle}.cache`;
  const made: Buffer[] = [];
  for (let again = false; !again && made.length < MOST_TRIES; ) {
    await makeCodeCache(bundle);
    const cache = readFileSync(file);
    again = made.some((earlier) => earlier.equals(cache));
    made.push(cache);
  }
  // V8 refuses the cache of a program that ran with other flags.
  const [cache] = made.slice(-1) as [Buffer];
  new Script('').createCachedData().copy(cache, FLAGS.start, FLAGS.start, FLAGS.end);
  writeFileSync(file, cache);
}

/** A second process reads the cache and writes it again: functions are in an order then that no timing decides. */
async function makeCodeCache(bundle: string): Promise<void> {
  const words = [...DETERMINISTIC, join(root, 'scripts', 'code-cache.ts'), bundle];
  for (const step of [[], ['--again']])
    await promisify(execFile)(process.execPath, [...words, ...step], { maxBuffer: 1 << 24 });
}
