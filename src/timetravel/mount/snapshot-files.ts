/**
 * The files of a snapshot as a file system knows them: by number, with attributes. Directories are read from git when
 * somebody looks into them. Paths and names hold one byte per character.
 */
import { joinPath } from '../../autocommit/stat-cache/cached-files.ts';
import { parentPath } from '../../disk/path-bytes.ts';
import { findObjects, readObjects } from '../../git/objects/object-reader.ts';
import { parseTree } from '../../git/objects/trees.ts';
import type { Git } from '../../git/run/git.ts';
import { isOwn } from '../../snapshot/format.ts';
import { IGNORE_FILE, ignoreFileContent } from '../../snapshot/ignore-file.ts';
import type { SnapshotMetadata } from '../../snapshot/manifest.ts';
import { decodeName } from '../../snapshot/tree-names.ts';
import { type Attributes, ROOT_NODE } from './protocol.ts';

const TYPE = { directory: 0o040000, file: 0o100000, link: 0o120000 } as const;
/** Those of a tree object. */
const TREE_MODE = { directory: '40000', program: '100755', link: '120000', submodule: '160000' } as const;

export function isFile(mode: number): boolean {
  return (mode & TYPE.file) !== 0 && (mode & 0o020000) === 0;
}

export interface FileNode {
  readonly number: number;
  readonly parent: number;
  readonly path: string;
  readonly mode: number;
  /** The tree or blob; undefined for a directory that has nothing but empty directories, and for `.agtignore`. */
  readonly oid: string | undefined;
  /** That of `.agtignore`, which is in the manifest. */
  readonly content?: Buffer;
  /** Undefined if the content is missing in the repository. */
  size: number | undefined;
  children: Promise<ReadonlyMap<string, FileNode>> | undefined;
}

interface ShownSnapshot {
  readonly metadata: SnapshotMetadata;
  /** The tree of the commit. */
  readonly tree: string;
  /** Unix seconds: the time of every file, since a snapshot records no others. */
  readonly time: number;
  /** Owns all files but those whose owner the snapshot records. */
  readonly owner: { readonly uid: number; readonly gid: number };
}

export class SnapshotFiles {
  private readonly git: Git;
  private readonly shown: ShownSnapshot;
  private readonly nodes: FileNode[] = [];
  /** Names of empty directories, and of those that have nothing else, by the path of the directory above. */
  private readonly empty = new Map<string, Set<string>>();

  constructor(git: Git, shown: ShownSnapshot) {
    this.git = git;
    this.shown = shown;
    for (const path of shown.metadata.emptyDirectories) this.addEmpty(path);
    this.nodes[ROOT_NODE] = {
      number: ROOT_NODE,
      parent: ROOT_NODE,
      path: '',
      mode: TYPE.directory | shown.metadata.modes.usual.directory,
      oid: shown.tree,
      size: 0,
      children: undefined,
    };
  }

  node(number: number): FileNode | undefined {
    return this.nodes[number];
  }

  isDirectory({ mode }: FileNode): boolean {
    return (mode & TYPE.directory) !== 0 && (mode & TYPE.file) === 0;
  }

  /** By name. */
  children(node: FileNode): Promise<ReadonlyMap<string, FileNode>> {
    if (node.children === undefined) {
      node.children = this.read(node);
      // git may have been killed: the next one who asks starts another.
      node.children.catch(() => {
        node.children = undefined;
      });
    }
    return node.children;
  }

  /** Undefined if the content is missing in the repository. */
  attributes({ number, path, mode, size }: FileNode): Attributes | undefined {
    if (size === undefined) return undefined;
    const owner = this.shown.metadata.owners.get(path) ?? this.shown.owner;
    return { node: number, size, time: this.shown.time, mode, ...owner };
  }

  /** The files that a list of the directory has after this one. */
  following({ number, parent }: FileNode, count: number): FileNode[] {
    return this.nodes.slice(number + 1, number + 1 + count).filter((node) => node.parent === parent);
  }

  private addEmpty(path: string): void {
    const above = parentPath(path);
    const name = path.slice(above === '' ? 0 : above.length + 1);
    const names = this.empty.get(above);
    names?.add(name);
    if (names !== undefined) return;
    this.empty.set(above, new Set([name]));
    if (above !== '') this.addEmpty(above);
  }

  private async read(directory: FileNode): Promise<ReadonlyMap<string, FileNode>> {
    const found = new Map<string, FileNode>();
    const { oid: tree } = directory;
    const [read] = tree === undefined ? [] : await readObjects(this.git, [tree]);
    const content = read?.content;
    if (content === undefined && tree !== undefined)
      throw new Error(`the tree of ${directory.path} is missing`);
    for (const { mode, name, oid } of content === undefined ? [] : parseTree(content, tree ?? '')) {
      const isHidden = directory.number === ROOT_NODE && isOwn(name);
      if (!isHidden && mode !== TREE_MODE.submodule) this.add(found, directory, decodeName(name), mode, oid);
    }
    if (directory.number === ROOT_NODE) this.addIgnoreFile(found);
    for (const name of this.empty.get(directory.path) ?? [])
      if (!found.has(name)) this.add(found, directory, name, TREE_MODE.directory, undefined);
    await this.measure([...found.values()]);
    return found;
  }

  private add(
    to: Map<string, FileNode>,
    directory: FileNode,
    name: string,
    treeMode: string,
    oid: string | undefined,
  ): void {
    const path = joinPath(directory.path, name);
    const size = treeMode === TREE_MODE.directory ? 0 : undefined;
    this.place(to, name, { parent: directory.number, path, mode: this.modeOf(path, treeMode), oid, size });
  }

  private addIgnoreFile(to: Map<string, FileNode>): void {
    const { manifest, modes } = this.shown.metadata;
    if (manifest.agtignore === undefined) return;
    const content = ignoreFileContent(manifest.agtignore);
    const place = { parent: ROOT_NODE, path: IGNORE_FILE, mode: TYPE.file | modes.usual.file };
    this.place(to, IGNORE_FILE, { ...place, oid: undefined, content, size: content.length });
  }

  private place(to: Map<string, FileNode>, name: string, node: Omit<FileNode, 'number' | 'children'>): void {
    const placed = { ...node, number: this.nodes.length, children: undefined };
    this.nodes.push(placed);
    to.set(name, placed);
  }

  private modeOf(path: string, treeMode: string): number {
    const { usual, others } = this.shown.metadata.modes;
    if (treeMode === TREE_MODE.link) return TYPE.link | 0o777;
    const type = treeMode === TREE_MODE.directory ? 'directory' : 'file';
    const bits = treeMode === TREE_MODE.program ? usual.program : usual[type];
    return TYPE[type] | (others.get(path) ?? bits);
  }

  private async measure(nodes: readonly FileNode[]): Promise<void> {
    const unknown = nodes.filter(({ size }) => size === undefined);
    const names = unknown.map(({ oid }) => oid as string);
    const answers = await findObjects(this.git, names);
    for (const [i, node] of unknown.entries()) node.size = answers[i]?.size;
  }
}
