/**
 * Where agt keeps what it knows about a repository: the one place that spells these paths. Names only; it touches no
 * file, so every room may import it. `common` is the common git directory, `agtDir` is `<common>/agt`.
 */
import { join } from 'node:path';

/** `<common>/agt`: everything that agt keeps about a repository. */
export function agtDirectory(common: string): string {
  return join(common, 'agt');
}

/** Names the area of an agt clone, relative to the bare repository. */
export function areaFile(agtDir: string): string {
  return join(agtDir, 'area');
}

/** Settings of a repository without an area. */
export function configFile(agtDir: string): string {
  return join(agtDir, 'config');
}

/** Settings of an agt clone. */
export function areaConfigFile(area: string): string {
  return join(area, '.agt', 'config');
}

/** Session folders of an agt clone. */
export function areaSessions(area: string): string {
  return join(area, 'sessions');
}

/** Session metadata, a file each. */
export function recordsDirectory(agtDir: string): string {
  return join(agtDir, 'sessions');
}

export function recordFile(agtDir: string, sessionId: string): string {
  return join(recordsDirectory(agtDir), `${sessionId}.json`);
}

/** Unix time of the last complete autocommit. */
export function timestampFile(agtDir: string, sessionId: string): string {
  return join(agtDir, 'timestamps', sessionId);
}

/** The stat cache of a session. */
export function statCacheFile(agtDir: string, sessionId: string): string {
  return join(agtDir, 'scan', sessionId);
}

export function locksDirectory(agtDir: string): string {
  return join(agtDir, 'locks');
}

export function sessionLockFile(agtDir: string, sessionId: string): string {
  return join(locksDirectory(agtDir), sessionId);
}

/** Held while unreachable objects are removed; no session's id begins with a dot. */
export function pruneLockFile(agtDir: string): string {
  return join(locksDirectory(agtDir), '.prune');
}

/** Held while packs are joined or rewritten. */
export function packLockFile(agtDir: string): string {
  return join(locksDirectory(agtDir), '.pack');
}

/** Bytes that the snapshots of each session added, a file each. */
export function usageDirectory(agtDir: string): string {
  return join(agtDir, 'usage');
}

/** Files about one session that a removal deletes beside its metadata. */
export function sessionCaches(agtDir: string, sessionId: string): string[] {
  return [
    statCacheFile(agtDir, sessionId),
    timestampFile(agtDir, sessionId),
    join(usageDirectory(agtDir), sessionId),
  ];
}

/** The sum that was measured last. */
export function measuredUsageFile(agtDir: string): string {
  return join(agtDir, 'usage.json');
}

/** Objects of commands that run now. */
export function scratchDirectory(agtDir: string): string {
  return join(agtDir, 'scratch');
}

/** Git mode's cache: whether an agent's commit is part of a visible history. */
export function visibleHistoryFile(agtDir: string): string {
  return join(agtDir, 'visible-history');
}

/** Exists where an agent's commit is part of a visible history; the shim looks for it. */
export function agentsInHistoryFile(agtDir: string): string {
  return join(agtDir, 'agents-in-history');
}

/** Decoration options that git mode leaves for the shim, in a worktree's git directory. */
export function decorationsFile(gitDir: string): string {
  return join(gitDir, 'agt-decorations');
}
