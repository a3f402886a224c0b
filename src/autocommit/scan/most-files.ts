/** A folder with too many files is one that nobody meant, such as a disk. Only attached folders have this limit. */
import { AgtError } from '../../errors.ts';

export const MOST_FILES = 200_000;

export class TooManyFiles extends AgtError {
  constructor() {
    super(`the folder has more than ${MOST_FILES.toLocaleString('en')} files that git does not ignore`, {
      hints: ['name large directories in .gitignore, or give a smaller folder'],
    });
  }
}
