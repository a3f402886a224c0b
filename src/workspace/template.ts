/**
 * The template of a repository: a fresh sandbox, frozen before an agent had it. `agt session new` clones it and lets git
 * write what differs, where a checkout would write every file. It holds nothing but what git has checked out.
 *
 * Everything here may be lost, and any doubt is a reason to check out: then the fresh session is the next template.
 */
import { createHash } from 'node:crypto';
import { constants, copyFileSync, existsSync, lstatSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { hasCheckoutHook } from '../autocommit/stat-cache/seed.ts';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { readJson } from '../disk/read-file.ts';
import { worktreeGitDir } from '../git/files/discover-repository.ts';
import { parseIndex } from '../git/files/index-file.ts';
import type { GitConfig } from '../git/run/config.ts';
import { gitText } from '../git/run/git.ts';
import { frozenDirectory, statCacheFile, templateFiles } from '../layout.ts';
import { isWhole, providerOf } from '../providers/choose.ts';
import { newFrozenToken, parseToken, type Token, tokenText } from '../providers/token.ts';
import type { Repository } from '../repository/repository.ts';
import { own, release, tokenOf } from '../session/provider.ts';
import type { Session } from '../session/session.ts';
import type { CloneSource } from './clone.ts';

export interface TemplateRecord {
  readonly token: string;
  /** The commit that git checked out. */
  readonly commit: string;
  /** Changes with every setting that git's checkout depends on. */
  readonly settings: string;
  /** The time of the index. */
  readonly mtimeMs: number;
  readonly made: string;
}

/** Deletions and new files add up, so agt checks out anew after this time. */
const LONGEST_LIFE_MS = 7 * 86_400_000;

/** `commit`: the one to check out. */
export async function findTemplate(
  repository: Repository,
  commit: string,
  config: Promise<GitConfig>,
): Promise<CloneSource | undefined> {
  try {
    const record = readTemplate(repository);
    const token = parseToken(record?.token);
    if (record === undefined || token === undefined || !isUsable(repository, record, token, await config))
      return undefined;
    if (record.commit !== commit && (await hasOtherAttributes(repository, record.commit, commit)))
      return undefined;
    const files = templateFiles(repository.agtDir, token.nonce);
    if (!existsSync(files.index)) return undefined;
    const index = {
      mtimeMs: record.mtimeMs,
      copyTo: (path: string) => copyFileSync(files.index, path, constants.COPYFILE_FICLONE),
    };
    return { folder: token.path, index, statCache: files.statCache, commit: record.commit };
  } catch {
    return undefined;
  }
}

/** git would write the files of such a commit in another way. @throws AgtError if one of them is gone */
async function hasOtherAttributes({ git }: Repository, before: string, after: string): Promise<boolean> {
  const args = ['diff-tree', '-r', '--name-only', before, after, '--', ':(glob)**/.gitattributes'];
  return (await gitText(git, args)) !== '';
}

function isUsable(
  repository: Repository,
  { settings, made }: TemplateRecord,
  token: Token,
  config: GitConfig,
): boolean {
  const age = Date.now() - Date.parse(made);
  return age < LONGEST_LIFE_MS && isWhole(token) && settings === checkoutSettings(repository, config);
}

function readTemplate({ agtDir }: Repository): TemplateRecord | undefined {
  return readJson(templateFiles(agtDir).record) as TemplateRecord | undefined;
}

/** Makes the template of a session in which nobody has worked yet. If that fails, there is none. */
export async function renewTemplate(session: Session, config: GitConfig): Promise<void> {
  const { kind, path } = tokenOf(session.record) ?? {};
  const settings = checkoutSettings(session.repository, config);
  if (kind === undefined || path === undefined || settings === undefined) return;
  const token = newFrozenToken(kind, join(frozenDirectory(dirname(path)), 'template'));
  try {
    await freezeTemplate(session, token, settings);
  } catch {
    await release(session.repository, token).catch(() => undefined);
  }
}

async function freezeTemplate(session: Session, token: Token, settings: string): Promise<void> {
  const { repository, record } = session;
  const { agtDir } = repository;
  const gitDir = worktreeGitDir(record.sandbox);
  const statCache = statCacheFile(agtDir, record.session_id);
  if (gitDir === undefined || !existsSync(statCache)) return;
  const indexFile = join(gitDir, 'index');
  const bytes = readFileSync(indexFile);
  if (parseIndex(bytes, record.from_commit.length / 2).split) return;
  const before = readTemplate(repository);
  own(repository, token, record.session_id);
  await providerOf(token.kind).freeze(session.folder, token);
  failurePoint('template: frozen');
  const files = templateFiles(agtDir, token.nonce);
  writeFileAtomic(files.index, bytes, { cache: true });
  writeFileAtomic(files.statCache, readFileSync(statCache), { cache: true });
  const text: TemplateRecord = {
    token: tokenText(token),
    commit: record.from_commit,
    settings,
    mtimeMs: lstatSync(indexFile).mtimeMs,
    made: new Date().toISOString(),
  };
  writeFileAtomic(files.record, `${JSON.stringify(text)}\n`);
  failurePoint('template: recorded');
  if (before !== undefined) await dropTemplate(repository, before);
  await dropUnused(repository, token);
}

/** A younger one may be another agt's, which does not use it yet. */
const YOUNG_MS = 10 * 60_000;

/** Earlier templates that sessions were built on, and are no longer. */
async function dropUnused(repository: Repository, { kind, path: current }: Token): Promise<void> {
  const { isUsed, walk } = providerOf(kind);
  if (isUsed === undefined) return;
  for (const token of walk(dirname(current))) {
    const age = Date.now() - statSync(token.path).ctimeMs;
    if (token.path !== current && age > YOUNG_MS) await release(repository, token);
  }
}

export async function forgetTemplate(repository: Repository): Promise<void> {
  const template = readTemplate(repository);
  if (template !== undefined) await dropTemplate(repository, template);
}

async function dropTemplate(repository: Repository, { token: text }: TemplateRecord): Promise<void> {
  const token = parseToken(text);
  if (token === undefined) return;
  const files = templateFiles(repository.agtDir, token.nonce);
  for (const file of [files.index, files.statCache]) rmSync(file, { force: true });
  await release(repository, token);
}

/** Sections of git's configuration that a checkout depends on. */
const SECTIONS = /^(core|filter|lfs|extensions|checkout|submodule)\./;

/** Undefined if a checkout does more than write files. */
function checkoutSettings({ commonDir, git }: Repository, config: GitConfig): string | undefined {
  const isSparse = /^(true|yes|on|1)$/i.test(config.get('core.sparsecheckout')?.at(-1) ?? '');
  if (isSparse || hasCheckoutHook({ sandbox: git.cwd, commonDir, config })) return undefined;
  const hash = createHash('sha1');
  const { GIT_LFS_SKIP_SMUDGE: skipsSmudge } = git.env;
  hash.update(JSON.stringify([process.umask(), process.getuid?.(), skipsSmudge]));
  for (const [key, values] of config) if (SECTIONS.test(key)) hash.update(JSON.stringify([key, values]));
  const home = git.env['HOME'] ?? homedir();
  const attributes = [
    join(commonDir, 'info', 'attributes'),
    config.get('core.attributesfile')?.at(-1) ??
      join(git.env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', 'attributes'),
  ];
  for (const file of attributes) {
    const stat = statSync(file, { throwIfNoEntry: false });
    hash.update(`${file} ${stat?.mtimeMs} ${stat?.size}\n`);
  }
  return hash.digest('hex');
}
