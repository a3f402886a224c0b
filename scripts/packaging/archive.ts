/** Archives of one executable with all that belongs to it: `.tar.xz` and `.tar.gz`, and a `.deb`. Equal input gives equal bytes. */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Target } from './targets.ts';

/** What an archive holds, besides the executable: paths below a prefix such as /usr, and their texts. */
export type Extras = ReadonlyMap<string, string>;

export interface Release {
  readonly name: string;
  readonly version: string;
  readonly summary: string;
  readonly homepage: string;
  /** Of the commit that is released, in seconds: the time of each file. */
  readonly time: number;
}

/** Writes the archives into `directory`, and returns their names. */
export function writeArchives(
  release: Release,
  target: Target,
  executable: string,
  extras: Extras,
  directory: string,
): string[] {
  const work = mkdtempSync(join(tmpdir(), 'agt-archive-'));
  try {
    const folder = `${release.name}-${release.version}-${target.name}`;
    const root = join(work, folder);
    layOut(root, executable, extras);
    const tar = join(work, 'archive.tar');
    const order = ['--sort=name', '--format=ustar', `--mtime=@${release.time}`];
    const owner = ['--owner=0', '--group=0', '--numeric-owner'];
    execFileSync('tar', ['-cf', tar, ...order, ...owner, '-C', work, folder]);
    const names = ['xz', 'gz'].map((kind) => `${folder}.tar.${kind}`) as [string, string];
    compress(tar, join(directory, names[0]), ['xz', '-6', '--threads=1', '--keep', '--stdout']);
    compress(tar, join(directory, names[1]), ['gzip', '-9', '--no-name', '--keep', '--stdout']);
    return [...names, ...writeDeb(release, target, root, work, directory)];
  } finally {
    rmSync(work, { recursive: true });
  }
}

export function layOut(root: string, executable: string, extras: Extras): void {
  const place = (path: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    return join(root, path);
  };
  copyFileSync(executable, place('bin/agt'));
  chmodSync(join(root, 'bin/agt'), 0o755);
  for (const [path, text] of extras) writeFileSync(place(path), text, { mode: 0o644 });
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', root]);
}

function compress(tar: string, output: string, [program = '', ...words]: readonly string[]): void {
  const bytes = execFileSync(program, [...words, tar], { maxBuffer: 1 << 30 });
  writeFileSync(output, bytes);
}

function writeDeb(
  release: Release,
  { debian }: Target,
  root: string,
  work: string,
  directory: string,
): string[] {
  if (debian === undefined) return [];
  const tree = join(work, 'deb');
  mkdirSync(join(tree, 'DEBIAN'), { recursive: true });
  cpSync(root, join(tree, 'usr'), { recursive: true });
  const control = {
    Package: release.name,
    Version: release.version,
    Architecture: debian,
    Maintainer: `${release.name} <${release.homepage}>`,
    Section: 'vcs',
    Priority: 'optional',
    Homepage: release.homepage,
    Depends: 'git (>= 1:2.39), libatomic1, libc6, libstdc++6',
    Description: release.summary,
  };
  const lines = Object.entries(control).map(([field, value]) => `${field}: ${value}\n`);
  writeFileSync(join(tree, 'DEBIAN', 'control'), lines.join(''));
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', tree]);
  const name = `${release.name}_${release.version}_${debian}.deb`;
  const env = { ...process.env, SOURCE_DATE_EPOCH: `${release.time}` };
  const words = ['--build', '--root-owner-group', '-Zxz', '-z6', tree, join(directory, name)];
  execFileSync('dpkg-deb', words, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return [name];
}
