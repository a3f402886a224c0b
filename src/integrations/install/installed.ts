/**
 * The facts that `agt hooks install` remembers of a settings file: its bytes from before, and a digest of the result. So
 * `uninstall` can bring back the very bytes, if nobody has changed the file since.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { readRegularFile } from '../../disk/read-file.ts';
import { attempt } from '../../errors.ts';
import { hooksLog } from '../hooks-log.ts';
import { runningHooks } from '../running-hooks.ts';
import { hooksDirectory, hooksFront } from '../state-directory.ts';
import { digestOf } from './settings-file.ts';

export interface ChangedFile {
  readonly file: string;
  /** Its content before, in base64; null if it was not there. */
  readonly original: string | null;
  /** A digest of its content afterwards. */
  readonly digest: string;
}

/** The settings file, and what else agt knows. */
export interface Installed extends ChangedFile {
  readonly tool: string;
  /** The file in which the agent has stored that the user trusts the hooks. */
  readonly trust?: ChangedFile | undefined;
  /** Directories that agt made, also for other agents; the innermost last. */
  readonly directories: readonly string[];
}

/** Hooks in the settings of a project have a file of their own. */
function installedFile(stateDir: string, tool: string, file: string, isUsers: boolean): string {
  const name = isUsers ? tool : `${tool}-${digestOf(Buffer.from(file)).slice(0, 12)}`;
  return join(hooksDirectory(stateDir), `${name}.json`);
}

export class InstalledFiles {
  private readonly stateDir: string;

  constructor(stateDir: string) {
    this.stateDir = stateDir;
  }

  read(tool: string, file: string, isUsers: boolean): Installed | undefined {
    try {
      const text = readRegularFile(installedFile(this.stateDir, tool, file, isUsers)).toString();
      const installed = JSON.parse(text) as Installed;
      return installed.file === file ? installed : undefined;
    } catch {
      return undefined; // agt then removes its entries alone
    }
  }

  /** Before the settings file itself changes. */
  write(installed: Installed, isUsers: boolean): void {
    const path = installedFile(this.stateDir, installed.tool, installed.file, isUsers);
    writeFileAtomic(path, `${JSON.stringify(installed, null, 2)}\n`, { durable: true });
    chmodSync(path, 0o600);
    failurePoint('hooks: remembered');
  }

  forget(tool: string, file: string, isUsers: boolean): void {
    rmSync(installedFile(this.stateDir, tool, file, isUsers), { force: true });
    rmSync(join(hooksDirectory(this.stateDir), `${tool}.last`), { force: true });
  }

  /** Makes the directory. Returns what `Installed.directories` has to name now. */
  makeDirectories(path: string): string[] {
    const known = this.all().flatMap(({ directories }) => directories);
    const made = [hooksDirectory(this.stateDir), path].flatMap((directory) => makeMissing(directory));
    return [...new Set([...known, ...made])];
  }

  /** The last hooks take the log with them, and the script that they have called. */
  tidyAfterLast(): void {
    if (this.all().length > 0) return;
    const { stateDir } = this;
    for (const path of [hooksLog(stateDir), hooksFront(stateDir), ...runningHooks(stateDir)])
      rmSync(path, { force: true });
  }

  /** Deletes the directories that agt has made, if they are empty. */
  tidy(directories: readonly string[]): void {
    for (const directory of [...directories].sort((a, b) => b.length - a.length)) {
      try {
        rmdirSync(directory);
      } catch {
        // it holds something else
      }
    }
  }

  private all(): Installed[] {
    const directory = hooksDirectory(this.stateDir);
    if (!existsSync(directory)) return [];
    return readdirSync(directory)
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => {
        return (
          attempt(() => [JSON.parse(readRegularFile(join(directory, name)).toString()) as Installed]) ?? []
        );
      });
  }
}

/** The directories that were missing, outermost first. */
function makeMissing(path: string): string[] {
  if (existsSync(path)) return [];
  const above = dirname(path) === path ? [] : makeMissing(dirname(path));
  mkdirSync(path, { mode: 0o700 });
  return [...above, path];
}
