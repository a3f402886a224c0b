/** Changed files of a sandbox as `git add` would store them: by line endings, filters, `ident` and encodings. */
import { attributeFiles, convertsLineEnds } from '../autocommit/stat-cache/converted.ts';
import { readIfThere } from '../disk/read-file.ts';
import type { StatusEntry } from '../git/objects/status.ts';
import type { GitConfig } from '../git/run/config.ts';
import { type Git, inDirectory } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import { parentDirectories } from '../snapshot/tree.ts';
import { isRead, quote } from './scratch-history.ts';

/** Matches every attributes file that lets git store other bytes than those on disk. */
const CONVERTING = /text|crlf|eol|ident|filter|working-tree-encoding|\[attr\]/;

/** Blobs by path. Empty if git stores the bytes as they are, and if it cannot tell. `scratch` takes the objects. */
export function convertedBlobs(
  scratch: Git,
  commonDir: string,
  { path: sandbox, files }: { readonly path: string; readonly files: readonly StatusEntry[] },
  config: GitConfig,
): ReadonlyMap<string, string> {
  const git = inDirectory(scratch, sandbox);
  const changed = files.filter(({ unstaged }) => unstaged !== '.').map(({ path }) => path);
  const above = new Set(changed.flatMap(parentDirectories));
  const rules = ['.gitattributes', ...[...above].map((directory) => `${directory}/.gitattributes`)];
  const isConverting = (file: string) => CONVERTING.test(readIfThere(file));
  if (!convertsLineEnds(config) && !attributeFiles(git, commonDir, rules, config).some(isConverting))
    return new Map();
  const paths = changed.filter((path) => isRead(sandbox, path));
  const input = Buffer.from(paths.map((path) => `${quote(path)}\n`).join(''), 'latin1');
  const oids =
    askGitSync(git, ['hash-object', '-w', '--stdin-paths'], { input })?.toString().split('\n') ?? [];
  return new Map(oids.length > paths.length ? paths.map((path, i) => [path, oids[i] ?? '']) : []);
}
