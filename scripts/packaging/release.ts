/**
 * Writes a release into dist/release: for each system an executable in archives, an npm package and, for Debian, a package;
 * install.sh, a Homebrew formula, the list of what is bundled (SBOM), and the checksums of all of them.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Extras, layOut, type Release, writeArchives } from './archive.ts';
import { billOfMaterials, bundledPackages, licences } from './bundled.ts';
import { pack } from './executable.ts';
import { packExecutable, packMain } from './npm-packages.ts';
import { HOST, type Target, targetsNamed } from './targets.ts';

const { values: options } = parseArgs({
  options: {
    target: { type: 'string', multiple: true, default: [] },
    out: { type: 'string', default: 'dist/release' },
    homepage: { type: 'string' },
    downloads: { type: 'string' },
    executables: { type: 'string' },
    'executables-only': { type: 'boolean', default: false },
    unpacked: { type: 'string' },
  },
});
const root = join(import.meta.dirname, '..', '..');
const out = join(root, options.out);
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { name, version, description } = own;
if (options.unpacked !== undefined) {
  await writeUnpacked(resolve(options.unpacked));
  process.exit();
}
const homepage: string | undefined = options.homepage ?? own.homepage;
if (homepage === undefined) {
  console.error(
    'error: the project has no homepage\nhint: name it in package.json, or give --homepage ADDRESS',
  );
  process.exit(1);
}
const downloads = options.downloads ?? `${homepage}/releases/download/v${version}`;
const time = Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }));
const release: Release = { name, version, summary: description, homepage, time };

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
process.env['AGT_HOMEPAGE'] = homepage; // of the bundles, too
const { inputs } = await import('../bundle.ts');
const targets = targetsNamed(options.target);
const shared = sharedFiles();
for (const target of targets) {
  const executable = join(out, `agt-${target.name}`);
  if (options.executables === undefined) await pack(target, executable);
  else cpSync(join(options.executables, `agt-${target.name}`), executable);
  if (options['executables-only']) continue;
  const packages = bundledPackages(inputs, target);
  const extras = extrasFor(packages, shared);
  const names = writeArchives(release, target, executable, extras, out);
  writeFileSync(join(out, `${name}-${version}-${target.name}.cdx.json`), billOfMaterials(release, packages));
  console.log([...names, packExecutable(target, executable, out)].join('\n'));
  rmSync(executable);
}
if (!options['executables-only']) {
  console.log(packMain(targets, out));
  writeFileSync(join(out, 'install.sh'), installer(), { mode: 0o755 });
  writeFileSync(join(out, `${name}.rb`), formula());
  writeFileSync(join(out, 'SHA256SUMS'), checksums());
}

/** The content of the archive for this system. */
async function writeUnpacked(directory: string): Promise<void> {
  const { inputs } = await import('../bundle.ts');
  const work = mkdtempSync(join(tmpdir(), 'agt-unpacked-'));
  try {
    const executable = join(work, 'agt');
    const [target] = targetsNamed([HOST]) as [Target];
    await pack(target, executable);
    layOut(directory, executable, extrasFor(bundledPackages(inputs, target), sharedFiles()));
  } finally {
    rmSync(work, { recursive: true });
  }
}

function extrasFor(packages: ReturnType<typeof bundledPackages>, shared: Extras): Extras {
  return new Map([...shared, ['share/doc/agt/THIRD-PARTY-LICENSES', licences(packages)]]);
}

/** The man page, the licence, and completion, which the executable itself prints. */
function sharedFiles(): Extras {
  const completion = (shell: string) =>
    execFileSync(process.execPath, [join(root, 'bin/agt'), 'completion', shell], { encoding: 'utf8' });
  const file = (path: string) => readFileSync(join(root, path), 'utf8');
  return new Map([
    ['share/man/man1/agt.1', file('docs/agt.1')],
    ['share/doc/agt/LICENSE', file('LICENSE')],
    ['share/bash-completion/completions/agt', completion('bash')],
    ['share/zsh/site-functions/_agt', completion('zsh')],
    ['share/fish/vendor_completions.d/agt.fish', completion('fish')],
  ]);
}

function installer(): string {
  const text = readFileSync(join(root, 'install.sh'), 'utf8');
  return text.replaceAll('@VERSION@', version).replaceAll('@DOWNLOADS@', downloads);
}

function sha256(file: string): string {
  return createHash('sha256')
    .update(readFileSync(join(out, file)))
    .digest('hex');
}

function checksums(): string {
  const files = readdirSync(out).filter((file) => file !== 'SHA256SUMS');
  return files.map((file) => `${sha256(file)}  ${file}\n`).join('');
}

/** For a tap of Homebrew. */
function formula(): string {
  const url = (system: string) => `${name}-${version}-${system}.tar.xz`;
  const block = (os: string, platform: string) => {
    const those = targets.filter((target) => target.platform === platform);
    const arches = those.map((target) => {
      const file = url(target.name);
      const cpu = target.arch === 'arm64' ? 'arm' : 'intel';
      return `    on_${cpu} do\n      url "${downloads}/${file}"\n      sha256 "${sha256(file)}"\n    end\n`;
    });
    return arches.length === 0 ? '' : `  on_${os} do\n${arches.join('')}  end\n`;
  };
  return `class Agt < Formula
  desc "${description.split(':')[0]}"
  homepage "${homepage}"
  version "${version}"
  license "MIT"
${block('macos', 'darwin')}${block('linux', 'linux')}
  def install
    bin.install "bin/agt"
    man1.install "share/man/man1/agt.1"
    bash_completion.install "share/bash-completion/completions/agt"
    zsh_completion.install "share/zsh/site-functions/_agt"
    fish_completion.install "share/fish/vendor_completions.d/agt.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/agt --version")
  end
end
`;
}
