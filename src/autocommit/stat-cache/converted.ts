/** Files whose bytes on disk differ from their blob, by gitattributes(5) and configuration. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type GitConfig, readGitConfig } from '../../git/run/config.ts';
import { type Git, gitBytes } from '../../git/run/git.ts';

const ATTRIBUTES = ['eol', 'ident', 'filter', 'working-tree-encoding'];
/** Matches every attributes file that sets one of them, or defines a macro that may. */
const SUSPECT = /eol=crlf|ident|filter|working-tree-encoding|\[attr\]/;

/** `paths` are relative to git's worktree, `known` is its configuration. 'all': that alone converts files. */
export async function listConverted(
  git: Git,
  commonDir: string,
  paths: readonly string[],
  known?: GitConfig,
): Promise<ReadonlySet<string> | 'all'> {
  const config = known ?? (await readGitConfig(git));
  if (convertsLineEnds(config)) return 'all';
  const isSuspect = (path: string) => existsSync(path) && SUSPECT.test(readFileSync(path, 'latin1'));
  if (!attributeFiles(git, commonDir, paths, config).some(isSuspect)) return new Set();
  return checkAttributes(git, paths);
}

/** Without any attribute. */
export function convertsLineEnds(config: GitConfig): boolean {
  return /^(true|yes|on|1|input)$/i.test(config.get('core.autocrlf')?.at(-1) ?? '') || config.has('core.eol');
}

/** Every file that git reads attributes from. */
export function attributeFiles(
  git: Git,
  commonDir: string,
  paths: readonly string[],
  config: GitConfig,
): string[] {
  const own = paths.filter((path) => path === '.gitattributes' || path.endsWith('/.gitattributes'));
  const home = git.env['HOME'] ?? homedir();
  const user = config
    .get('core.attributesfile')
    ?.at(-1)
    ?.replace(/^~(?=\/)/, home);
  return [
    ...own.map((path) => join(git.cwd, Buffer.from(path, 'latin1').toString())),
    join(commonDir, 'info', 'attributes'),
    user ?? join(git.env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', 'attributes'),
    '/etc/gitattributes',
  ];
}

async function checkAttributes(git: Git, paths: readonly string[]): Promise<Set<string>> {
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
  const args = ['check-attr', '-z', '--stdin', ...ATTRIBUTES];
  const fields = (await gitBytes(git, args, { input })).toString('latin1').split('\0');
  const converted = new Set<string>();
  for (let i = 0; i + 2 < fields.length; i += 3) {
    const [path = '', name, value = ''] = fields.slice(i, i + 3);
    if (name === 'eol' ? value === 'crlf' : !['unspecified', 'unset'].includes(value)) converted.add(path);
  }
  return converted;
}
