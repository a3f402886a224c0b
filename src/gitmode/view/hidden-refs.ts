/** Which refs of the repository are hidden: from its files or, if it has none, from git. */
import { join } from 'node:path';
import {
  type AllPrefixes,
  localNamespaces,
  namesBelowRemotes,
  namespaceOf,
  remoteNamespaces,
  SHARED_STASH,
} from '../../filter/agent-refs.ts';
import {
  hasRef,
  looseRefNames,
  packedRefNames,
  REMOTES,
  readPackedRefs,
  subdirectories,
} from '../../git/files/ref-files.ts';
import { once } from '../../once.ts';
import type { GitAccess } from '../invocation.ts';
import type { View } from './view.ts';

interface HiddenRefs extends Pick<View, 'isAgentRef' | 'isHidden' | 'visibleRefs' | 'hiddenRefs'> {
  namespaces(): View['namespaces'];
  currentAgentBranch(): View['currentAgentBranch'];
}

interface Sources {
  readonly commonDir: string;
  /** Whether the refs are files of the common directory. */
  readonly refFiles: boolean;
  readonly prefixes: AllPrefixes;
  /** Names of configured remotes. */
  readonly remotes: () => readonly string[];
  readonly currentBranch: () => string | undefined;
  /** Whether this is a sandbox: the session has a stash of its own. */
  readonly hasOwnStash: () => boolean;
  readonly ask: GitAccess['ask'];
}

export function findHiddenRefs(sources: Sources): HiddenRefs {
  const { commonDir, refFiles, prefixes, remotes, ask } = sources;
  const hasOwnStash = once(() => refFiles && sources.hasOwnStash());
  const remoteSet = once(() => new Set(remotes()));
  const hiddenNamespaceOf = (ref: string) => namespaceOf(ref, prefixes, remoteSet());
  const isAgentRef = (ref: string) => hiddenNamespaceOf(ref) !== undefined;
  const currentAgentBranch = once(() => {
    const branch = sources.currentBranch();
    return branch !== undefined && isAgentRef(branch) ? branch : undefined;
  });
  const isHidden = (ref: string) =>
    ref === SHARED_STASH ? hasOwnStash() : ref !== currentAgentBranch() && isAgentRef(ref);
  const allRefs = once(() => ask(['for-each-ref', '--format=%(refname)']).stdout.split('\n').filter(Boolean));
  const candidates = () => (refFiles ? candidateNames(commonDir, prefixes, remotes()) : allRefs());
  return {
    namespaces: once(() => {
      const found = candidates().flatMap((ref) => (isHidden(ref) ? (hiddenNamespaceOf(ref) ?? []) : []));
      const stash = hasOwnStash() && hasRef(commonDir, SHARED_STASH) ? [SHARED_STASH] : [];
      return [...new Set([...found, ...stash])].sort();
    }),
    currentAgentBranch,
    isAgentRef,
    isHidden,
    visibleRefs: once(() => allRefs().filter((ref) => !isHidden(ref))),
    hiddenRefs: once(() => allRefs().filter(isHidden)),
  };
}

/** Names that may be hidden: loose refs in the namespaces, and packed refs with a prefix in their names. */
function candidateNames(commonDir: string, prefixes: AllPrefixes, configured: readonly string[]): string[] {
  const packed = readPackedRefs(commonDir);
  const local = localNamespaces(prefixes).flatMap((namespace) => [
    ...looseRefNames(commonDir, namespace),
    ...packedRefNames(packed, namespace),
  ]);
  const remotes = new Set([...configured, ...subdirectories(join(commonDir, REMOTES))]);
  const loose = [...remotes]
    .flatMap((remote) => remoteNamespaces(remote, prefixes))
    .flatMap((namespace) => looseRefNames(commonDir, namespace));
  return [...local, ...loose, ...packedRemoteNames(packed, prefixes)];
}

function packedRemoteNames(packed: Buffer, prefixes: AllPrefixes): string[] {
  const marks = namesBelowRemotes(prefixes).map((name) => `/${name}`);
  if (!marks.some((mark) => packed.includes(mark))) return [];
  return packedRefNames(packed, REMOTES).filter((name) => marks.some((mark) => name.includes(mark)));
}
