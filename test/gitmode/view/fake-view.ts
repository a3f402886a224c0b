/** A view made of plain values, for tables of command lines: no repository, no git. */
import { namespaceOf } from '../../../src/filter/agent-refs.ts';
import type { View } from '../../../src/gitmode/view/view.ts';

export const PREFIXES = { branchPrefix: 'agtsessions/', workPrefix: 'agt/' };

export interface Facts {
  /** Full names of all refs, hidden ones included. */
  readonly refs?: readonly string[];
  /** The branch checked out. */
  readonly head?: string;
  readonly worktrees?: readonly string[];
  readonly config?: Readonly<Record<string, readonly string[]>>;
  readonly remotes?: readonly string[];
  readonly agentsInHistory?: boolean;
  readonly hasPerlPatterns?: boolean;
  /** Standard output by the question's words joined with blanks. */
  readonly answers?: Readonly<Record<string, string>>;
}

export function fakeView(facts: Facts = {}): View {
  const refs = facts.refs ?? ['refs/heads/agt/s1', 'refs/heads/agtsessions/s1', 'refs/heads/main'];
  const remotes = new Set(facts.remotes ?? []);
  const isHiddenName = (ref: string) => namespaceOf(ref, PREFIXES, remotes) !== undefined;
  const isHidden = (ref: string) => ref !== facts.head && isHiddenName(ref);
  const hidden = refs.filter(isHidden);
  return {
    namespaces: [...new Set(hidden.map((ref) => namespaceOf(ref, PREFIXES, remotes) as string))].sort(),
    current: facts.head !== undefined && isHiddenName(facts.head) ? facts.head : undefined,
    worktrees: facts.worktrees ?? [],
    prefixes: PREFIXES,
    agentEmail: 'agt@local',
    visibleRefs: () => refs.filter((ref) => !isHidden(ref)),
    hiddenRefs: () => hidden,
    isHidden,
    isHiddenName,
    isSandbox: () => false,
    hiddenOnRemotes: ['refs/heads/agtsessions/', 'refs/heads/agt/', 'refs/tags/agtsessions/', 'refs/agt/'],
    config: (key) => facts.config?.[key] ?? [],
    remotes: () => [...remotes],
    capture: () => {
      throw new Error('nothing is run in a table');
    },
    print: () => {},
    ask: (args) => {
      const stdout = facts.answers?.[args.join(' ')];
      return { exitCode: stdout === undefined ? 1 : 0, stdout: stdout ?? '' };
    },
    agentsInHistory: () => facts.agentsInHistory ?? false,
    hasPerlPatterns: () => facts.hasPerlPatterns ?? true,
    gitIsAtLeast: () => false,
    gitDir: '/repository/.git',
    commonDir: '/repository/.git',
  };
}
