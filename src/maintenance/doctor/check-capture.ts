/** Tries a capture of a session, and writes nothing: what stops or limits the next autocommit? */
import type { CaptureResult } from '../../autocommit/capture.ts';
import { isAgtError, listSome } from '../../errors.ts';
import { shownPath } from '../../folders/store.ts';
import { commandToCapture, commandToRestore } from '../../session/advised-commands.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { Finding } from './finding.ts';

/** So many paths are named. */
const MOST_LISTED = 3;

/** A capture that writes nothing. */
export type Preview = (record: SessionRecord) => Promise<CaptureResult>;

export async function checkCapture(record: SessionRecord, preview: Preview): Promise<Finding[]> {
  const about = record.session_id;
  try {
    const { failed, warnings } = await preview(record);
    const listed = failed.map(({ path, reason }) => `${shownPath(record, path)} ${reason}`);
    const unreadable: Finding[] =
      failed.length === 0
        ? []
        : [
            {
              level: 'warning',
              about,
              problem: `not all of it can be captured: ${listSome(listed, MOST_LISTED)}`,
              mend: 'make it readable, or name it in .agtignore',
            },
          ];
    return [
      ...unreadable,
      ...warnings.map((problem): Finding => {
        const mend = `${commandToCapture(record)} && ${commandToRestore(record, '@')}`;
        return { level: 'warning', about, problem, mend };
      }),
    ];
  } catch (error) {
    if (!isAgtError(error)) throw error;
    const problem = `it cannot be captured: ${error.message}`;
    return [{ level: 'error', about, problem, mend: error.hints[0] ?? commandToCapture(record) }];
  }
}
