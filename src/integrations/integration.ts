/** What agt has to know about an agent. */
import type { ReadEvent } from './event.ts';
import type { HookSettings } from './install/settings.ts';

export interface Integration {
  /** As in `agt hooks install claude-code`. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** The command that people call. */
  readonly program: string;
  readonly readEvent: ReadEvent;
  /** The text for standard output that ends a prompt without the model and shows `reason`; undefined if there is none. */
  readonly blockPrompt?: (reason: string) => string;
  /** The agent takes every failure of a hook for an order, also that agt is gone. */
  readonly mustNotFail?: true;
  /** The directory of the user's settings, which the agent makes when it first runs. */
  readonly home: (env: NodeJS.ProcessEnv) => string;
  /** The file with the hooks, in `home`. */
  readonly file: string;
  /** The same in a project. */
  readonly projectFile: string;
  readonly settings: (options: HookOptions) => HookSettings;
  readonly trust?: Trust;
  /** If its worktrees can be sessions: how the ids of these begin, and of those for subagents. */
  readonly worktrees?: { readonly prefix: string; readonly subagentPrefix: string };
}

/** For an agent that runs only hooks that the user has reviewed. `path` is the settings file with the hooks. */
export interface Trust {
  /** The file in which the agent stores it. */
  readonly file: (env: NodeJS.ProcessEnv) => string;
  readonly isTrusted: (env: NodeJS.ProcessEnv, path: string) => Promise<boolean>;
  readonly grant: (env: NodeJS.ProcessEnv, path: string) => Promise<void>;
  readonly revoke: (env: NodeJS.ProcessEnv, path: string) => Promise<void>;
}

export interface HookOptions {
  /** The worktrees that the agent makes become sessions. */
  readonly worktrees: boolean;
}
