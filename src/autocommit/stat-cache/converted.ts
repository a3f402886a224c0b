/**
 * Files that a checkout writes otherwise than their blobs are: by attributes (gitattributes(5)) and configuration. Whoever
 * takes a blob for what is on disk has to leave them out.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Git, gitAnswer, gitBytes } from '../../git/run/git.ts';

const ATTRIBUTES = ['eol', 'ident', 'filter', 'working-tree-encoding'];
/** What a line that sets one of them, or a macro that may, has in it. */
const SUSPECT = /eol=crlf|ident|filter|working-tree-encoding|\[attr\]/;

interface Places {
  /** Absolute, both. */
  readonly worktree: string;
  readonly commonDir: string;
}

/** `paths` relative to the worktree that git runs in. 'all': the configuration converts, whatever the attributes say. */
export async function listConverted(
  git: Git,
  { worktree, commonDir }: Places,
  paths: readonly string[],
): Promise<ReadonlySet<string> | 'all'> {
  const config = await readConfig(git);
  if (/^(true|yes|on|1|input)$/i.test(config.get('core.autocrlf') ?? '') || config.has('core.eol'))
    return 'all';
  if (process.platform === 'win32') return 'all';
  if (
    !attributeFiles(git, { worktree, commonDir }, paths, config).some((path) =>
      SUSPECT.test(readIfThere(path)),
    )
  ) {
    return new Set();
  }
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
  const args = ['check-attr', '-z', '--stdin', ...ATTRIBUTES];
  const fields = (await gitBytes(git, args, { input })).toString('latin1').split('\0');
  const converted = new Set<string>();
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', name, value = ''] = fields.slice(at, at + 3);
    if (name === 'eol' ? value === 'crlf' : !['unspecified', 'unset'].includes(value)) converted.add(path);
  }
  return converted;
}

async function readConfig(git: Git): Promise<Map<string, string>> {
  const pattern = '^core\\.(autocrlf|eol|attributesfile)$';
  const listed = (await gitAnswer(git, ['config', '--null', '--get-regexp', pattern])) ?? '';
  const entries = listed.split('\0').filter((entry) => entry !== '');
  return new Map(entries.map((entry) => entry.split('\n', 2) as [string, string]));
}

function attributeFiles(
  git: Git,
  { worktree, commonDir }: Places,
  paths: readonly string[],
  config: ReadonlyMap<string, string>,
): string[] {
  const own = paths.filter((path) => path === '.gitattributes' || path.endsWith('/.gitattributes'));
  const home = git.env['HOME'] ?? homedir();
  const user = config.get('core.attributesfile')?.replace(/^~(?=\/)/, home);
  return [
    ...own.map((path) => join(worktree, Buffer.from(path, 'latin1').toString())),
    join(commonDir, 'info', 'attributes'),
    user ?? join(git.env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', 'attributes'),
    '/etc/gitattributes',
  ];
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'latin1') : '';
}
