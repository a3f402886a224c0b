/** Everything that agt has to know about an agent. */
import type { Variables } from '../config/profiles.ts';
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
  /**
   * How an event begins and ends that says that a call of a tool has succeeded, and words that it then has nowhere. If
   * nothing has changed, the front leaves such an event at that (agtmode/front/front-text.ts). `begins` may have other
   * fields before it, but no objects. `before` begins the event before a tool, which asks for no more than a capture in
   * a folder without a session.
   */
  readonly succeeded?: {
    readonly begins: string;
    readonly before?: string;
    readonly ends?: string;
    readonly lacks?: readonly string[];
  };
  /** The text for standard output that ends a prompt without the model and shows `reason`; undefined if there is none. */
  readonly blockPrompt?: (reason: string) => string;
  /** The agent gives the variables of a project's .env file to hooks. */
  readonly loadsDotEnv?: true;
  /** The agent takes every failure of a hook for an order, also that agt is gone. */
  readonly mustNotFail?: true;
  /** The directory of the user's settings, which the agent makes when it first runs. */
  readonly home: (env: NodeJS.ProcessEnv) => string;
  /** The file with the hooks, in `home`. */
  readonly file: string;
  /** The same in a project. */
  readonly projectFile: string;
  /** `worktrees`: those that the agent makes become sessions. */
  readonly settings: (options: { readonly worktrees: boolean }) => HookSettings;
  readonly trust?: Trust;
  /** A person has to know this about the hooks. */
  readonly note?: string;
  /** Variables by which its conversations land in the session, and nothing else. Names in braces as in a profile. */
  readonly conversations?: Variables;
  /** The variable that moves all its settings, and the files of its login there, relative to `home`. */
  readonly isolation?: { readonly variable: string; readonly login: readonly string[] };
  /** agt copies its conversations into the session: they are beside its login. */
  readonly copiesTranscript?: true;
  /** Lets the agent call agt in one run, without a change of settings. Not needed if its settings have the hooks. */
  readonly injectHooks?: (added: Injected) => Injection;
  /** Tells the agent more about its place in a session. */
  readonly injectPlace?: (place: { readonly path: string; readonly commonDir: string }) => Injection;
  /** If its worktrees can be sessions: how the ids of these begin, and of those for subagents. */
  readonly worktrees?: { readonly prefix: string; readonly subagentPrefix: string };
}

export interface Injected {
  /** The text that agt would put into the file with the hooks. */
  readonly text: string;
  /** Writes it to a file of agt's own. Returns the path. */
  readonly write: (name: string) => string;
}

export interface Injection {
  /** Go behind the name of the program. */
  readonly words: readonly string[];
  readonly variables: Variables;
}

/** For an agent that runs only hooks that the user has reviewed. `path` is the settings file with the hooks. */
export interface Trust {
  /** The file in which the agent stores it. */
  readonly file: (env: NodeJS.ProcessEnv) => string;
  readonly isTrusted: (env: NodeJS.ProcessEnv, path: string) => Promise<boolean>;
  readonly grant: (env: NodeJS.ProcessEnv, path: string) => Promise<void>;
  readonly revoke: (env: NodeJS.ProcessEnv, path: string) => Promise<void>;
}
