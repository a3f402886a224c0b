/** Trees of git in memory. */
import { AgtError } from '../../errors.ts';
import type { Git } from '../run/git.ts';
import { type NewObject, objectName } from './commits.ts';
import { readObjects } from './object-reader.ts';

export interface TreeEntry {
  /** As git stores it: `40000` for a directory. */
  readonly mode: string;
  /** One byte per character. */
  readonly name: string;
  readonly oid: string;
}

export const isDirectory = ({ mode }: TreeEntry) => mode === '40000';

/** Read level by level, each once, and made anew without some entries. */
export class Trees {
  /** The new objects, by name. */
  readonly made = new Map<string, NewObject>();
  private readonly known = new Map<string, readonly TreeEntry[]>();

  /** With all trees below. */
  async load(git: Git, roots: readonly string[]): Promise<void> {
    const level = [...new Set(roots)].filter((oid) => !this.known.has(oid));
    if (level.length === 0) return;
    for (const [i, found] of (await readObjects(git, level)).entries()) {
      const oid = level[i] as string;
      if (found?.type !== 'tree') throw new AgtError(`git cannot read tree ${oid}`);
      this.known.set(oid, parseTree(found.content, oid));
    }
    const below = level.flatMap((oid) => this.entries(oid).filter(isDirectory));
    const oids = below.map(({ oid }) => oid);
    await this.load(git, oids);
  }

  entries(oid: string): readonly TreeEntry[] {
    return this.known.get(oid) ?? [];
  }

  /** What a path leads to; '' is the tree itself. */
  find(tree: string, path: string): TreeEntry | undefined {
    let found: TreeEntry | undefined = { mode: '40000', name: '', oid: tree };
    for (const name of path === '' ? [] : path.split('/'))
      found =
        found && isDirectory(found) ? this.entries(found.oid).find((one) => one.name === name) : undefined;
    return found;
  }

  /** Undefined without entries, which no tree of git has. */
  make(entries: readonly TreeEntry[], like: string): string | undefined {
    if (entries.length === 0) return undefined;
    const parts = entries.flatMap(({ mode, name, oid }) => [
      Buffer.from(`${mode} ${name}\0`, 'latin1'),
      Buffer.from(oid, 'hex'),
    ]);
    const oid = this.add({ type: 'tree', content: Buffer.concat(parts) }, like);
    this.known.set(oid, entries);
    return oid;
  }

  add(object: NewObject, like: string): string {
    const oid = objectName(object, like);
    this.made.set(oid, object);
    return oid;
  }
}

/** For each entry the mode, a blank, the name, a NUL, and the bytes of the object name, of which `like` has the length. */
export function parseTree(content: Buffer, like: string): TreeEntry[] {
  const entries: TreeEntry[] = [];
  const length = like.length / 2;
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(32, at);
    const end = content.indexOf(0, space);
    const name = content.toString('latin1', space + 1, end);
    if (/^\.{0,2}$|\//.test(name))
      throw new AgtError(`a tree has the name "${name}", which no file can have`);
    const mode = content.toString('latin1', at, space);
    entries.push({ mode, name, oid: content.toString('hex', end + 1, end + 1 + length) });
    at = end + 1 + length;
  }
  return entries;
}
