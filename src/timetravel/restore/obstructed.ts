/** For a preview: what is in the way of a restore of an attached folder, because it deletes no file that git ignores. */
import { lstatSync, type Stats } from 'node:fs';
import type { CheckoutPlan } from '../../checkout/plan.ts';
import { entriesOf } from '../../disk/folder-entries.ts';
import { systemPath } from '../../disk/long-path.ts';
import { attempt } from '../../errors.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { parentDirectories } from '../../snapshot/tree.ts';

/** The plan, with paths that cannot be written among the blocked ones. */
export function withObstructed(record: SessionRecord, plan: CheckoutPlan): CheckoutPlan {
  const folder = Buffer.from(sessionFolder(record)).toString('latin1');
  const going = new Set(plan.deletions);
  const blocked = new Set(
    plan.writes.map(({ path }) => path).filter((path) => isObstructed(folder, path, going)),
  );
  return {
    ...plan,
    writes: plan.writes.filter(({ path }) => !blocked.has(path)),
    blocked: [...plan.blocked, ...blocked],
  };
}

/** `going`: the files that the restore deletes. The first parent is the sandbox, which is a link. */
function isObstructed(folder: string, path: string, going: ReadonlySet<string>): boolean {
  const isStayingFile = (above: string) => look(folder, above)?.isDirectory() === false && !going.has(above);
  const isBelowFile = parentDirectories(path).some((above) => above.includes('/') && isStayingFile(above));
  return isBelowFile || (look(folder, path)?.isDirectory() === true && holdsStaying(folder, path, going));
}

function holdsStaying(folder: string, directory: string, going: ReadonlySet<string>): boolean {
  return entriesOf(`${folder}/${directory}`).some((entry) => {
    const path = `${directory}/${entry.name}`;
    return entry.isDirectory() ? holdsStaying(folder, path, going) : !going.has(path);
  });
}

/** Undefined also below a file. */
function look(folder: string, path: string): Stats | undefined {
  return attempt(() => lstatSync(systemPath(`${folder}/${path}`)));
}
