/** Tries many merges at once. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { layOutAttributes } from '../git/objects/attributes.ts';
import { type ScratchObjects, storeInScratch } from '../git/objects/scratch-objects.ts';
import type { Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';

/** A scratch commit that merges something into a branch whose tip is `into`. */
export interface Merge {
  readonly into: string;
  readonly oid: string;
}

const NOBODY = 'agt <agt@local> 0 +0000';

type Tell = (oid: string, hasConflicts: boolean, isEmpty: boolean, tree: string) => void;

/** Merges as `agt accept` does: in a work tree that has the attributes of the branch, and nothing else. */
export class Merger {
  /** In such a work tree without any attributes. */
  readonly git: Git;
  private readonly places = new Map<string, Git>();
  private readonly scratch: ScratchObjects;
  private readonly commonDir: string;

  constructor(scratch: ScratchObjects, commonDir: string) {
    this.scratch = scratch;
    this.commonDir = commonDir;
    this.git = this.place('none');
  }

  /**
   * `git log --remerge-diff` merges the parents of each commit anew: many merges in one process, one for each branch.
   * Returns what the commit differs in from that, by commit; undefined if git failed.
   */
  async remerge(merges: readonly Merge[]) {
    const args = [
      ...['log', '--no-walk=unsorted', '--stdin', '--remerge-diff', '--no-color', '--format=%x01%H'],
      ...['--no-show-signature', '--no-mailmap', '--no-notes', '--name-only'],
    ];
    const found = new Map<string, string>();
    for (const [into, some] of Map.groupBy(merges, (merge) => merge.into)) {
      const input = some.map(({ oid }) => `${oid}\n`).join('');
      const git = await this.onBranch(into);
      const output = askGitSync(git, args, { input })?.toString('latin1');
      if (output === undefined) return undefined;
      for (const part of output.split('\u0001').filter((text) => text !== '')) {
        const end = part.indexOf('\n');
        found.set(part.slice(0, end), part.slice(end).trim());
      }
    }
    return found;
  }

  /** Whether each merge has conflicts or changes nothing, as `agt accept` asks. `git log` leaves out some kinds. */
  private async try(merges: readonly Merge[], tell: Tell) {
    const args = ['merge-tree', '--write-tree', '--stdin', '--name-only', '--no-messages'];
    for (const [into, some] of Map.groupBy(merges, (merge) => merge.into)) {
      const input = some.map(({ oid }) => `${oid}^1 ${oid}^2\n`).join('');
      // The first merge, of the branch with itself, names its tree.
      const asked = `${into} ${into}\n${input}`;
      const output = askGitSync(await this.onBranch(into), args, { input: asked })?.toString('latin1');
      const fields = output?.split('\0') ?? [];
      const next = () => fields.splice(0, fields.indexOf('') + 1);
      const [, own] = next();
      for (const { oid } of output === undefined ? [] : some) {
        const [isClean, tree] = next();
        tell(oid, isClean === '0', isClean === '1' && tree === own, tree ?? '');
      }
    }
  }

  /** Commits without parents, by merge. Those with conflicts are left out. */
  async merge(merges: readonly Merge[], tell?: Tell): Promise<Map<string, string>> {
    const commits = new Map<string, string>();
    await this.try(merges, (oid, hasConflicts, isEmpty, tree) => {
      tell?.(oid, hasConflicts, isEmpty, tree);
      const content = Buffer.from(`tree ${tree}\nauthor ${NOBODY}\ncommitter ${NOBODY}\n\n`);
      if (!hasConflicts) commits.set(oid, storeInScratch(this.scratch, { type: 'commit', content }, tree));
    });
    return commits;
  }

  private async onBranch(tip: string): Promise<Git> {
    const known = this.places.get(tip);
    if (known !== undefined) return known;
    const git = this.place(tip);
    this.places.set(tip, git);
    await layOutAttributes(git, tip);
    return git;
  }

  private place(name: string): Git {
    const { git, dir } = this.scratch;
    const [tree, index] = [join(dir, `tree-${name}`), join(dir, `index-${name}`)];
    mkdirSync(tree);
    const own = { GIT_DIR: this.commonDir, GIT_WORK_TREE: tree, GIT_INDEX_FILE: index };
    return { ...git, cwd: tree, env: { ...git.env, ...own } };
  }
}
