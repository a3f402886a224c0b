/** Everything that agt has to know about an agent. */
import type { Variables } from '../config/profiles.ts';
import type { ReadEvent } from './event.ts';
import type { ServerSettings } from './install/mcp-server.ts';
import type { HookSettings } from './install/settings.ts';
import type { TranscriptForm } from './transcript.ts';

export interface Integration {
  /** As in `agt hooks install claude-code`. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** The command that people call. */
  readonly program: string;
  /** agt knows its hooks from its documentation: no test runs the agent itself. */
  readonly isByDocumentation?: true;
  readonly readEvent: ReadEvent;
  /**
   * How the events of a call begin and end, once it has succeeded and before it, and words that they then have nowhere. If
   * nothing has changed, the front leaves such an event at that (agtmode/front/front-text.ts). `after` and `before` may
   * have other fields before them, but no objects.
   */
  readonly quietEvents?: {
    readonly after: string;
    readonly before: string;
    readonly ends?: string;
    readonly lacks?: readonly string[];
  };
  /** The text for standard output that ends a prompt without the model and shows `reason`; undefined if there is none. */
  readonly blockPrompt?: (reason: string) => string;
  /** The text for standard output that keeps a tool from running and tells the model why; undefined if there is none. */
  readonly refuseTool?: (reason: string) => string;
  /** The text for standard output that adds `context` to a prompt; undefined if there is none. */
  readonly addContext?: (context: string) => string;
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
  /** `tool` is its name here; `worktrees`: those that the agent makes become sessions. */
  readonly settings: (tool: string, options: { readonly worktrees: boolean }) => HookSettings;
  /** The files that can name `agt mcp`, the user's, in `home`, and that of a project; none for an agent without MCP. */
  readonly mcp?: {
    readonly file: string | ((env: NodeJS.ProcessEnv) => string);
    readonly projectFile: string;
    readonly settings: ServerSettings;
  };
  /** If it has plugins: the directory of plugin.json, and its home as a text of a shell. */
  readonly plugin?: { readonly directory: string; readonly home: string; readonly hasCommands?: true };
  /** Words that resume a conversation, the one in `path` if agt has copied it; and its transcripts, if agt can cut them. */
  readonly resume?: {
    readonly words: (id: string, path: string | undefined) => readonly string[];
    readonly transcript?: TranscriptForm;
  };
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
