/**
 * The fence: an agent in a session may read the user's checkout, and sometimes writes there. That is not what the user will
 * accept, and it is in nobody's snapshot. So agt refuses a file tool, with the path that the agent means, and looks which
 * folders another call names, to record what it does there (agtmode/hooks/strays.ts).
 */
import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { isSameDirectory, realPath } from '../disk/real-path.ts';
import { attempt } from '../errors.ts';
import { listWorktrees } from '../git/files/discover-repository.ts';
import { type SessionRecord, sessionFolder } from '../session/record.ts';
import type { BeforeTool } from './event.ts';

interface Fence {
  /** The session folder. */
  readonly own: string;
  /** The other worktrees of the repository; those inside of others first. */
  readonly others: readonly string[];
}

/** By the name of a tool, also of a server's: an agent may read everywhere. */
export function onlyReads(tool: string): boolean {
  const name = tool.replace(/^.*__/, '');
  return /^(read|notebookread|view|grep|glob|ls$|list|search|find|get)/i.test(name) && !CHANGES.test(name);
}

const CHANGES = /replace|edit|write|update/i;

/** Undefined for an agent that works in the checkout itself. */
export function fenceOf({ commonDir }: { readonly commonDir: string }, record: SessionRecord) {
  if (record.checkout !== undefined) return undefined;
  const own = realPath(sessionFolder(record));
  // With cow-overlay, the sandbox stands at the user's own path.
  const isOwn = (top: string) => pathIn(own, top) !== undefined || isSameDirectory(top, record.sandbox);
  const others = listWorktrees(commonDir).filter((top) => !isOwn(top));
  return { own, others: others.toSorted((a, b) => b.length - a.length) };
}

/** Why the agent must not write the file of this call; undefined if it may. */
export function refusalOf(fence: Fence, { sandbox }: SessionRecord, call: BeforeTool): string | undefined {
  const [found] = filesBehind(fence, call);
  if (found === undefined) return undefined;
  return (
    `${found.target} is not in the sandbox of this session, but in another worktree of the repository. ` +
    `Use ${join(sandbox, found.path)} instead: what is there lands on the user's branch when the user accepts it.`
  );
}

function filesBehind(fence: Fence, { files = [], cwd }: BeforeTool) {
  // Some agents resolve `..` by the text alone, and others leave it to the system.
  const paths = files.flatMap((file) => [resolve(cwd, file), absolute(cwd, file)]);
  return paths.flatMap((path) => behind(fence, realTarget(path)) ?? []);
}

/** So many words of a command are paths; the rest is likely the content of a file. */
const MOST_WORDS = 2_000;

/** The other worktrees that a call names: by a path, from the home directory, by `..`, or by a link. */
export function foldersNamed(fence: Fence, call: BeforeTool, home: string | undefined): string[] {
  const { own, others } = fence;
  const { cwd, texts = [] } = call;
  const text = texts.join('\n').replaceAll('\\', '').replaceAll(own, '');
  const named = others.filter((top) => spellings(top, home).some((path) => mentions(text, path)));
  const words = new Set(texts.flatMap((one) => one.split(/[\s'"`;|&<>()=]+/)).slice(0, MOST_WORDS));
  const reached = [...words].flatMap((word) => {
    const target = realTarget(absolute(cwd, word.replace(OF_HOME, home ?? '~')));
    const top = behind(fence, target)?.top;
    const isUpwards = word.split('/').includes('..');
    if (top !== undefined || !isUpwards || pathIn(own, target) !== undefined) return top ?? [];
    const isSandbox = (other: string) => pathIn(dirname(own), other) !== undefined;
    return others.filter((other) => pathIn(target, other) !== undefined && !isSandbox(other));
  });
  return [...new Set([...filesBehind(fence, call).map(({ top }) => top), ...named, ...reached])];
}

const OF_HOME = /^(?:~|\$HOME|\$\{HOME\})(?=\/)/;

function spellings(path: string, home: string | undefined): string[] {
  const inHome = home === undefined || home === '' ? undefined : pathIn(realPath(home), path);
  return [path, ...(inHome ? ['~', '$HOME', `\${HOME}`].map((start) => `${start}/${inHome}`) : [])];
}

/** Not as the beginning of a longer name: session folders are in `PATH.agt`. */
function mentions(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1))
    if (!/[\w.-]/.test(text.charAt(at + path.length))) return true;
  return false;
}

function behind({ own, others }: Fence, target: string) {
  if (pathIn(own, target) !== undefined) return undefined;
  const top = others.find((other) => pathIn(other, target) !== undefined);
  return top === undefined ? undefined : { top, target, path: pathIn(top, target) ?? '' };
}

function absolute(cwd: string, path: string): string {
  return isAbsolute(path) ? path : `${cwd}/${path}`;
}

const MOST_LINKS = 40;

/** Where the system finds the file or would make it: the end of the path need not exist, nor that of a link. */
function realTarget(path: string, links = 0): string {
  const real = attempt(() => realpathSync.native(path));
  if (real !== undefined || path === dirname(path)) return real ?? path;
  const target = links < MOST_LINKS ? attempt(() => readlinkSync(path)) : undefined;
  if (target !== undefined) return realTarget(absolute(dirname(path), target), links + 1);
  return join(realTarget(dirname(path), links), basename(path));
}

/** Undefined if `path` is not in `directory`. */
function pathIn(directory: string, path: string): string | undefined {
  const inside = relative(directory, path);
  return inside === '..' || inside.startsWith('../') || isAbsolute(inside) ? undefined : inside;
}
