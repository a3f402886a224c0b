/**
 * Commits by an agent inside a visible history. With two branches per session they are reachable from hidden refs
 * only, and nothing needs to be added: see docs/git-mode.md, "Hidden authors".
 */
import type { View } from '../view.ts';

export function withAuthorFilter(_options: readonly string[], _view: View): string[] {
  return [];
}
