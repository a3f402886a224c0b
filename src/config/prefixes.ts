/**
 * The prefixes of branches that sessions of a repository have. Somebody can change the settings while there are sessions,
 * and their branches stay agt's. So agt notes each pair of prefixes before a session has it. Most repositories know only
 * the default pair: they have no note, and git mode looks for one file.
 */
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { readSmallFile, statOrUndefined } from '../disk/read-file.ts';
import type { AllPrefixes, Prefixes } from '../filter/agent-refs.ts';
import { readSessionFiles, type SessionFile } from '../filter/session-file.ts';
import { HEADS } from '../git/files/ref-files.ts';
import { prefixesFile } from '../layout.ts';
import { DEFAULT_PREFIXES } from './settings.ts';

/** The prefixes of the settings first. */
export function prefixesInUse(agtDir: string, settings: Prefixes): AllPrefixes {
  const file = prefixesFile(agtDir);
  // Without a note, all sessions have the default prefixes.
  if (isSame(settings, DEFAULT_PREFIXES) && statOrUndefined(file) === undefined) return unique([settings]);
  return unique([settings, ...(notedPrefixes(file) ?? recordedPrefixes(agtDir))]);
}

/** Notes the prefixes of the settings, and those that metadata name. */
export function recordPrefixes(agtDir: string, settings: Prefixes): void {
  const file = prefixesFile(agtDir);
  const noted = notedPrefixes(file) ?? [];
  const wanted = unique([...noted, ...recordedPrefixes(agtDir), settings]);
  const onlyDefault = wanted.every((prefixes) => isSame(prefixes, DEFAULT_PREFIXES));
  if (onlyDefault || wanted.length === noted.length) return;
  writeFileAtomic(file, wanted.map((prefixes) => `${prefixesLine(prefixes)}\n`).join(''), {
    durable: true,
  });
}

/** The prefixes that the branches of sessions have, by their metadata. */
export function recordedPrefixes(agtDir: string): AllPrefixes {
  return unique(readSessionFiles(agtDir).flatMap((session) => prefixesOf(session) ?? []));
}

/** A line of the file. */
export function prefixesLine({ branchPrefix, workPrefix }: Prefixes): string {
  return `${branchPrefix} ${workPrefix}`;
}

function prefixesOf({ session_id, branch = '', work_branch = '' }: SessionFile): Prefixes | undefined {
  const [branchPrefix, workPrefix] = [branch, work_branch].map((ref) =>
    ref.startsWith(HEADS) && ref.endsWith(`/${session_id}`)
      ? ref.slice(HEADS.length, -session_id.length)
      : undefined,
  );
  return branchPrefix && workPrefix ? { branchPrefix, workPrefix } : undefined;
}

/** Undefined if there is no note, or none that can be read: metadata then tell. */
function notedPrefixes(file: string): Prefixes[] | undefined {
  return readSmallFile(file)
    ?.split('\n')
    .flatMap((line) => {
      const [branchPrefix, workPrefix] = line.split(' ');
      return branchPrefix?.endsWith('/') && workPrefix?.endsWith('/') ? [{ branchPrefix, workPrefix }] : [];
    });
}

function isSame(one: Prefixes, other: Prefixes): boolean {
  return prefixesLine(one) === prefixesLine(other);
}

function unique(all: AllPrefixes): Prefixes[] {
  return [...new Map(all.map((prefixes) => [prefixesLine(prefixes), prefixes])).values()].map(
    ({ branchPrefix, workPrefix }) => ({ branchPrefix, workPrefix }),
  );
}
