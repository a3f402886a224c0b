/**
 * Bundles the sources into two files: dist/main.cjs (startup and git mode) and dist/agtmode.cjs (everything else).
 * `--failure-points` bundles into dist/failure-points what tests can kill between two steps (src/disk/failure-point.ts).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

/** What the bundles hold, for a look at what startup loads: `npm run bundle -- --list`. */
const list = process.argv.includes('--list');

const failurePoints = process.argv.includes('--failure-points');
const outdir = failurePoints ? 'dist/failure-points' : 'dist';

/**
 * string-width compiles its tables of emoji as soon as it is loaded, in 13 ms. yargs has two of it, for its help, which
 * it lays out with every command, shown or not. Plain ASCII is as wide as it is long.
 */
const stringWidthWhenNeeded: Plugin = {
  name: 'string-width when needed',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^string-width$/ }, ({ kind, resolveDir }) =>
      kind === 'require-call' ? undefined : { path: resolveDir, namespace: 'when-needed' },
    );
    onLoad({ filter: /.*/, namespace: 'when-needed' }, ({ path }) => ({
      contents: `let width;
        const isPlain = (text) => typeof text === 'string' && /^[\\x20-\\x7e]*$/.test(text);
        const measure = (...args) => (width ??= require('string-width').default)(...args);
        export default (text, options) => isPlain(text) ? text.length : measure(text, options);`,
      resolveDir: path,
    }));
  },
};

/**
 * Node loads these in one to five milliseconds each, and most calls need none of them: our own imports of their functions
 * load them with the first call.
 */
const builtinsWhenNeeded: Plugin = {
  name: 'builtins when needed',
  setup({ onResolve, onLoad }) {
    const filter = /^node:(child_process|crypto|zlib|readline\/promises)$/;
    onResolve({ filter }, ({ path, importer }) =>
      importer.startsWith(join(root, 'src/')) ? { path, namespace: 'builtin-when-needed' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'builtin-when-needed' }, async ({ path }) => {
      const functions = Object.entries(await import(path))
        .filter(([name, value]) => /^[a-z]/.test(name) && name !== 'default' && typeof value === 'function')
        .map(([name]) => `export const ${name} = (...args) => require('${path}').${name}(...args);`);
      return { contents: functions.join('\n'), resolveDir: root };
    });
  },
};

/** The thread's source, which agt mode starts from a string: in the packed executable there is no file to start. */
const worker = await build({
  absWorkingDir: root,
  entryPoints: ['src/autocommit/stat-cache/refresh-worker.ts'],
  bundle: true,
  write: false,
  platform: 'node',
  format: 'cjs',
  target: 'node22.15',
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
});

for (const [entry, outfile] of [
  ['src/main.ts', `${outdir}/main.cjs`],
  ['src/agtmode/main.ts', `${outdir}/agtmode.cjs`],
] as const) {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22.15',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'linked',
    // What is imported late is evaluated late; from an asset, import() itself cannot be called.
    supported: { 'dynamic-import': false },
    metafile: true,
    plugins: [stringWidthWhenNeeded, builtinsWhenNeeded],
    define: {
      AGT_VERSION: JSON.stringify(version),
      AGT_FAILURE_POINTS: String(failurePoints),
      AGT_CONFIRM_WORKER: JSON.stringify(worker.outputFiles[0]?.text),
      'import.meta.url': '__bundleUrl',
      'import.meta.dirname': '__dirname',
    },
    banner: { js: "const __bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'warning',
  });
  if (list) {
    const inputs = Object.values(result.metafile.outputs).flatMap((output) => Object.entries(output.inputs));
    for (const [path, { bytesInOutput }] of inputs.sort((a, b) => b[1].bytesInOutput - a[1].bytesInOutput)) {
      console.log(`${outfile}\t${bytesInOutput}\t${path}`);
    }
  }
}
