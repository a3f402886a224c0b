/** Which commands have a rule. A command that is not here becomes git untouched. */
import type { Rule } from '../plan.ts';
import { branch } from './branch.ts';
import { forEachRef, refs } from './for-each-ref.ts';
import { log, reflog } from './log.ts';
import { bundle, fastExport, formatPatch, revList, revParse, shortlog } from './rev-list.ts';
import { showRef } from './show-ref.ts';
import { tag } from './tag.ts';

export const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['branch', branch],
  ['bundle', bundle],
  ['fast-export', fastExport],
  ['for-each-ref', forEachRef],
  ['format-patch', formatPatch],
  ['log', log],
  ['reflog', reflog],
  ['refs', refs],
  ['rev-list', revList],
  ['rev-parse', revParse],
  ['shortlog', shortlog],
  ['show', log],
  ['show-ref', showRef],
  ['tag', tag],
  ['whatchanged', log],
]);
