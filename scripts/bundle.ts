/**
 * Bundles the sources into four files: dist/main.cjs (startup and git mode), dist/frequent.cjs (the commands that agents
 * call all the time), dist/agtmode.cjs (all commands) and dist/mcp.cjs (the server of agt mcp).
 * `--failure-points` writes bundles to dist/failure-points that tests can kill between two steps (src/disk/failure-point.ts).
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';

const root = join(import.meta.dirname, '..');
const own: { version: string; homepage?: string } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
/** scripts/packaging/release.ts sets the variable. */
const homepage = process.env['AGT_HOMEPAGE'] ?? own.homepage;

/** `npm run bundle -- --list` prints the content of the bundles: what startup loads. */
const list = process.argv.includes('--list');

const failurePoints = process.argv.includes('--failure-points');
const outdir = failurePoints ? 'dist/failure-points' : 'dist';

/**
 * string-width compiles its tables of emoji when it is loaded, which takes 13 ms. yargs loads two copies to lay out its
 * help, with every command, shown or not. The width of plain ASCII is its length, so the tables can wait.
 */
const stringWidthWhenNeeded: Plugin = {
  name: 'string-width when needed',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^string-width$/ }, ({ kind, resolveDir }) =>
      kind === 'require-call' ? undefined : { path: relative(root, resolveDir), namespace: 'when-needed' },
    );
    onLoad({ filter: /.*/, namespace: 'when-needed' }, ({ path }) => ({
      contents: `let width;
        const isPlain = (text) => typeof text === 'string' && /^[\\x20-\\x7e]*$/.test(text);
        const measure = (...args) => (width ??= require('string-width').default)(...args);
        export default (text, options) => isPlain(text) ? text.length : measure(text, options);`,
      resolveDir: join(root, path),
    }));
  },
};

/**
 * age also knows recipients of other curves, whose tables take 25 ms to compute. agt's keys are of the first kind, but a
 * recipient of a user may be another one. Node itself computes the
 * first kind; age only takes the base point from there.
 */
const curvesWhenNeeded: Plugin = {
  name: 'curves when needed',
  setup({ onResolve, onLoad }) {
    onResolve(
      { filter: /^@noble\/(post-quantum\/hybrid|curves\/(nist|ed25519))\.js$/ },
      ({ path, importer, resolveDir }) =>
        /age-encryption\/dist\/(recipients|x25519)\.js$/.test(importer)
          ? { path, namespace: 'curves', pluginData: resolveDir }
          : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'curves' }, ({ path, pluginData }) => ({
      contents: ['MLKEM768P256', 'MLKEM768X25519', 'p256', 'x25519']
        .map(
          (name) =>
            `export const ${name} = new Proxy({ GuBytes: Uint8Array.of(9, ...Array(31).fill(0)) }, {
              get: (known, key) => known[key] ?? require('${path}').${name}[key],
            });`,
        )
        .join('\n'),
      resolveDir: pluginData,
    }));
  },
};

/**
 * Node takes one to ten milliseconds to load each of these, and most calls need none of them. Our own imports load them
 * with the first call.
 */
const LOADED_WHEN_NEEDED =
  /^node:(child_process|crypto|zlib|readline|readline\/promises|timers\/promises|tty|util)$/;

/**
 * One module for each builtin. esbuild would copy the builtin's hundred exports for every file that imports it, which
 * takes longer than everything else that the bundle does when it is loaded.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, importer, kind }) =>
      importer.startsWith(join(root, 'src/')) && kind === 'import-statement'
        ? { path, namespace: 'builtin', sideEffects: false }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: LOADED_WHEN_NEEDED.test(path) ? loadedWhenNeeded(path) : loadedAtOnce(path),
      resolveDir: root,
    }));
  },
};

function loadedWhenNeeded(builtin: string): string {
  const functions = Object.entries(process.getBuiltinModule(builtin) ?? {})
    .filter(([name, value]) => /^[a-z]/.test(name) && typeof value === 'function')
    .map(([name]) => `export const ${name} = (...args) => require('${builtin}').${name}(...args);`);
  return functions.join('\n');
}

/** Without exports that Node computes when somebody asks for them. */
function loadedAtOnce(builtin: string): string {
  const exports = process.getBuiltinModule(builtin) ?? {};
  const names = Object.entries(Object.getOwnPropertyDescriptors(exports))
    .filter(([name, { value }]) => /^[a-z]\w*$/i.test(name) && value !== undefined)
    .map(([name]) => name);
  return `export const { ${names.join(', ')} } = require('${builtin}');`;
}

/** Each hook loads the settings of all agents, but only agt hooks and agt session run edit them: agtmode.cjs does that. */
const withoutEditors: Plugin = {
  name: 'without editors of settings',
  setup({ onLoad }) {
    onLoad({ filter: /src\/integrations\/install\/(json-hooks|mcp-server)\.ts$/ }, ({ path }) => {
      const names = readFileSync(path, 'utf8').matchAll(/^export (?:async )?(?:function|const) (\w+)/gm);
      return {
        contents: Array.from(names, ([, name]) => `export const ${name} = () => undefined;`).join('\n'),
      };
    });
  },
};

const piExtension = readFileSync(join(root, 'extensions/pi/agt.ts'), 'utf8');

const pluginTexts = Object.fromEntries(
  ['README', 'SKILL', 'undo'].map((name) => [
    name,
    readFileSync(join(root, `extensions/plugin/${name}.md`), 'utf8'),
  ]),
);

/** The files that the bundles are made of. */
export const inputs: string[] = [];

/** For the browser: what `agt ui` serves. */
const page = await build({
  absWorkingDir: root,
  entryPoints: ['src/page/client/page.tsx'],
  outfile: `${outdir}/page.js`,
  bundle: true,
  platform: 'browser',
  format: 'iife',
  target: 'es2022',
  minify: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'linked',
  metafile: true,
  logLevel: 'warning',
});
inputs.push(...Object.keys(page.metafile.inputs));

for (const [entry, outfile, installs] of [
  ['src/main.ts', `${outdir}/main.cjs`],
  ['src/agtmode/frequent.ts', `${outdir}/frequent.cjs`],
  ['src/agtmode/main.ts', `${outdir}/agtmode.cjs`, true],
  ['src/agtmode/mcp/server.ts', `${outdir}/mcp.cjs`],
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
    // A late import is evaluated late. Code from an asset cannot call import() itself.
    supported: { 'dynamic-import': false },
    metafile: true,
    // Its other form cannot be bundled.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    plugins: [stringWidthWhenNeeded, curvesWhenNeeded, builtins, ...(installs ? [] : [withoutEditors])],
    define: {
      AGT_VERSION: JSON.stringify(own.version),
      AGT_RELEASES: JSON.stringify(homepage === undefined ? '' : `${homepage}/releases/latest/download`),
      AGT_FAILURE_POINTS: String(failurePoints),
      AGT_PI_EXTENSION: JSON.stringify(installs ? piExtension : ''),
      AGT_PLUGIN_TEXTS: JSON.stringify(pluginTexts),
      'import.meta.url': '__bundleUrl',
      'import.meta.dirname': '__dirname',
    },
    banner: { js: "const __bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'warning',
  });
  inputs.push(...Object.keys(result.metafile.inputs));
  if (list) {
    const parts = Object.values(result.metafile.outputs).flatMap((output) => Object.entries(output.inputs));
    for (const [path, { bytesInOutput }] of parts.sort((a, b) => b[1].bytesInOutput - a[1].bytesInOutput)) {
      console.log(`${outfile}\t${bytesInOutput}\t${path}`);
    }
  }
}
