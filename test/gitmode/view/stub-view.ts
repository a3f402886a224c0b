/** A view of given facts, for tables of command lines: without a repository and without git. */
import { namespaceOf } from '../../../src/filter/agent-refs.ts';
import { isAtLeast, OLDEST_GIT } from '../../../src/git/run/version.ts';
import type { View } from '../../../src/gitmode/view/view.ts';

const PREFIXES = [{ branchPrefix: 'agtsessions/', workPrefix: 'agt/' }];

export interface Facts {
  /** Full names of all refs, hidden ones included. */
  readonly refs?: readonly string[];
  /** Full name of the branch that is checked out. */
  readonly head?: string;
  readonly hiddenWorktrees?: readonly string[];
  readonly config?: Readonly<Record<string, readonly string[]>>;
  readonly remotes?: readonly string[];
  readonly hasVisibleAgentCommits?: boolean;
  readonly hasPcre?: boolean;
  readonly gitVersion?: { readonly major: number; readonly minor: number };
  /** git's standard output for each question, whose words are joined with blanks. */
  readonly answers?: Readonly<Record<string, string>>;
}

export function stubView(facts: Facts = {}): View {
  const refs = facts.refs ?? ['refs/heads/agt/s1', 'refs/heads/agtsessions/s1', 'refs/heads/main'];
  const remotes = new Set(facts.remotes ?? []);
  const isAgentRef = (ref: string) => namespaceOf(ref, PREFIXES, remotes) !== undefined;
  const isHidden = (ref: string) => ref !== facts.head && isAgentRef(ref);
  const hidden = refs.filter(isHidden);
  return {
    namespaces: [...new Set(hidden.map((ref) => namespaceOf(ref, PREFIXES, remotes) as string))].sort(),
    currentAgentBranch: facts.head !== undefined && isAgentRef(facts.head) ? facts.head : undefined,
    hiddenWorktrees: facts.hiddenWorktrees ?? [],
    prefixes: PREFIXES,
    agentEmail: 'agt@local',
    gitDir: '/repository/.git',
    commonDir: '/repository/.git',
    visibleRefs: () => refs.filter((ref) => !isHidden(ref)),
    hiddenRefs: () => hidden,
    isHidden,
    isAgentRef,
    visibleReflogObjects: () => undefined,
    isHiddenWorktree: () => false,
    config: (key) => facts.config?.[key] ?? [],
    remotes: () => [...remotes],
    submodulesKnow: () => true,
    hasVisibleAgentCommits: () => facts.hasVisibleAgentCommits ?? false,
    canReplaceRefs: () => false,
    hasPcre: () => facts.hasPcre ?? true,
    gitIsAtLeast: (major, minor) => isAtLeast(facts.gitVersion ?? OLDEST_GIT, major, minor),
    ask: (args) => {
      const stdout = facts.answers?.[args.join(' ')];
      return { exitCode: stdout === undefined ? 1 : 0, stdout: stdout ?? '' };
    },
    capture: () => {
      throw new Error('a table runs nothing');
    },
  };
}
