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
  /** The directory of the user's settings, which the agent makes when it first runs. */
  readonly home: (env: NodeJS.ProcessEnv) => string;
  /** The file with the hooks, in `home`. */
  readonly file: string;
  /** The same in a project. */
  readonly projectFile: string;
  readonly settings: (options: HookOptions) => HookSettings;
  /** If its worktrees can be sessions: how the ids of these begin, and of those for subagents. */
  readonly worktrees?: { readonly prefix: string; readonly subagentPrefix: string };
}

export interface HookOptions {
  /** The worktrees that the agent makes become sessions. */
  readonly worktrees: boolean;
}
