/** Which commands have a rule. A command that is not here becomes git untouched. */

import { branch } from './branch.ts';
import { fetch, remote } from './fetch.ts';
import { forEachRef, refs } from './for-each-ref.ts';
import { log, reflog, show } from './log.ts';
import { lsRemote } from './ls-remote.ts';
import { describe, nameRev } from './names.ts';
import { push } from './push.ts';
import { rebase } from './rebase.ts';
import { bundle, fastExport, formatPatch, revList, revParse, shortlog } from './rev-list.ts';
import type { Rule } from './rule.ts';
import { showBranch } from './show-branch.ts';
import { showRef } from './show-ref.ts';
import { tag } from './tag.ts';
import { worktree } from './worktree.ts';

export const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['branch', branch],
  ['bundle', bundle],
  ['describe', describe],
  ['fast-export', fastExport],
  ['fetch', fetch],
  ['for-each-ref', forEachRef],
  ['format-patch', formatPatch],
  ['log', log],
  ['ls-remote', lsRemote],
  ['name-rev', nameRev],
  ['pull', fetch],
  ['push', push],
  ['rebase', rebase],
  ['reflog', reflog],
  ['refs', refs],
  ['remote', remote],
  ['rev-list', revList],
  ['rev-parse', revParse],
  ['shortlog', shortlog],
  ['show', show],
  ['show-branch', showBranch],
  ['show-ref', showRef],
  ['tag', tag],
  ['whatchanged', log],
  ['worktree', worktree],
]);
