/**
 * Files as the sum of all edits that were ever made, in memory: each line has its place among all lines that the file ever
 * had, the edit that wrote it, and those that took it away. To undo some edits is to leave them out of the sum.
 */
import type { Random } from '../random.ts';

export interface Edit {
  readonly file: string;
  /** `claude 2`: agent and turn; `person`. */
  readonly by: string;
  readonly call: string | undefined;
  readonly time: number;
  undoneAt: number | undefined;
}

interface Atom {
  readonly text: string;
  readonly by: Edit;
  readonly goneBy: Edit[];
}

const LATER = Number.POSITIVE_INFINITY;

export class Documents {
  readonly edits: Edit[] = [];
  private time = 0;
  private readonly atoms = new Map<string, Atom[]>();
  random: Random;

  constructor(random: Random, files: readonly string[], lines: number) {
    this.random = random;
    for (const file of files) {
      const start = this.edit(file, 'start', undefined);
      this.atoms.set(file, this.fresh(start, lines));
    }
    this.edits.length = 0;
  }

  private edit(file: string, by: string, call: string | undefined): Edit {
    this.time += 1;
    const edit = { file, by, call, time: this.time, undoneAt: undefined };
    this.edits.push(edit);
    return edit;
  }

  private fresh(by: Edit, count: number): Atom[] {
    const text = (i: number) => `${by.file} ${by.time}.${i} ${this.random.below(1e6)}`;
    return Array.from({ length: count }, (_, i) => ({ text: text(i), by, goneBy: [] }));
  }

  /** Adds, changes or deletes some lines next to each other. A file that is not there begins with it. */
  change(file: string, author: string, call: string | undefined): void {
    const { random } = this;
    const edit = this.edit(file, author, call);
    const atoms = this.atoms.get(file) ?? [];
    const there = atoms.filter((atom) => isThere(atom, LATER));
    const at = random.below(there.length + 1);
    const act = there.length === 0 ? 0 : random.below(3);
    const old = act === 0 ? [] : there.slice(at, at + 1 + random.below(3));
    for (const atom of old) atom.goneBy.push(edit);
    const last = old.at(-1) ?? there[at - 1];
    const put = act === 2 ? [] : this.fresh(edit, 1 + random.below(4));
    this.atoms.set(file, atoms.toSpliced(last === undefined ? 0 : atoms.indexOf(last) + 1, 0, ...put));
  }

  get files(): readonly string[] {
    return [...this.atoms.keys()];
  }

  text(file: string): string {
    const there = (this.atoms.get(file) ?? []).filter((atom) => isThere(atom, LATER));
    return there.map(({ text }) => `${text}\n`).join('');
  }

  undo(edits: readonly Edit[]): void {
    this.time += 1;
    for (const edit of edits) edit.undoneAt = this.time;
  }

  redo(edits: readonly Edit[]): void {
    for (const edit of edits) edit.undoneAt = undefined;
  }

  /**
   * How many of these edits have lines that something else has changed since (`same`); and how many others have such a
   * change right beside them, without a line between that has stayed (`beside`): there git sees a conflict.
   */
  touched(edits: readonly Edit[]): { readonly same: number; readonly beside: number } {
    const isSame = (edit: Edit) => this.ofEdit(edit).some(({ atom }) => isTaken(atom, edits));
    const others = edits.filter((edit) => !isSame(edit));
    return {
      same: edits.length - others.length,
      beside: others.filter((edit) => this.isBeside(edit, edits)).length,
    };
  }

  private ofEdit(edit: Edit) {
    const all = this.atoms.get(edit.file) ?? [];
    return all
      .map((atom, i) => ({ atom, around: [all.slice(0, i).toReversed(), all.slice(i + 1)] }))
      .filter(({ atom: { by, goneBy } }) => by === edit || goneBy.includes(edit));
  }

  private isBeside(edit: Edit, edits: readonly Edit[]): boolean {
    const isOwn = ({ by, goneBy }: Atom) => [by, ...goneBy].some((one) => edits.includes(one));
    const wasThere = (atom: Atom) => isThere(atom, edit.time);
    const isNow = (atom: Atom) => isThere(atom, LATER);
    return this.ofEdit(edit).some(({ around }) =>
      around.some((side) => {
        const end = side.findIndex((atom) => !isOwn(atom) && wasThere(atom) && isNow(atom));
        return side
          .slice(0, end < 0 ? side.length : end)
          .some((atom) => wasThere(atom) !== isNow(atom) && !edits.includes(atom.by));
      }),
    );
  }
}

/** Lines of these edits that others have taken away. */
function isTaken(atom: Atom, edits: readonly Edit[]): boolean {
  const isGone = !isThere(atom, LATER) && !atom.goneBy.some((one) => edits.includes(one));
  return edits.includes(atom.by) && isGone;
}

/** Right after the edit of that time. */
function isThere({ by, goneBy }: Atom, time: number): boolean {
  const counts = (edit: Edit) => edit.time <= time && (edit.undoneAt === undefined || edit.undoneAt > time);
  return counts(by) && !goneBy.some(counts);
}
