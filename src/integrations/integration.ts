/** What agt has to know about an agent. */
import type { ReadEvent } from './event.ts';

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
}
