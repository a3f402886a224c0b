/** Every command of agt under its heading, in the order in which help shows them. */
import type { Command } from '../command-line/command.ts';
import { autocommit } from './autocommit.ts';
import { clone } from './clone.ts';
import { configAdd, configGet, configList, configSet, configUnset } from './config.ts';
import { cronInstall, cronRemove, cronShow } from './cron.ts';
import { doctor } from './doctor.ts';
import { du } from './du.ts';
import { gc } from './gc.ts';
import { hook, hooksInstall, hooksStatus, hooksUninstall } from './hooks.ts';
import { keyExport, keyImport, keyNew, keyShow } from './key.ts';
import { mcp } from './mcp.ts';
import { plugin } from './plugin.ts';
import { sessionAccept } from './session/accept.ts';
import { sessionActivity } from './session/activity.ts';
import { bisectRun } from './session/bisect.ts';
import { blame } from './session/blame.ts';
import { sessionBundle } from './session/bundle.ts';
import { sessionDiff } from './session/diff.ts';
import { sessionEnv, sessionOpen, sessionPath } from './session/enter.ts';
import { sessionExport, sessionReject, sessionSync } from './session/landing.ts';
import { sessionList, sessionShow } from './session/list.ts';
import { sessionLog } from './session/log.ts';
import { sessionCat, sessionMount, sessionUmount } from './session/mount.ts';
import { sessionAdopt, sessionFork, sessionNew } from './session/new.ts';
import { sessionExec, sessionRecord } from './session/record.ts';
import { sessionRemove } from './session/remove.ts';
import { sessionRestore } from './session/restore.ts';
import { sessionResume } from './session/resume.ts';
import { sessionReview } from './session/review.ts';
import { sessionRun } from './session/run.ts';
import { sessionSearch } from './session/search.ts';
import { sessionFail, sessionSweep } from './session/sweep.ts';
import { sessionPull, sessionPush } from './session/travel.ts';
import { sessionUnaccept } from './session/unaccept.ts';
import { sessionRedo, sessionUndo } from './session/undo.ts';
import { why } from './session/why.ts';
import { completion, shellInit } from './shell-init.ts';
import { shimInstall, shimPrint, shimUninstall } from './shim.ts';
import { snapshotDiff, snapshotList, snapshotRestore, snapshotStatus } from './snapshot/of-folder.ts';
import { snapshot, snapshotForget } from './snapshot/take.ts';
import { status } from './status.ts';
import { ui } from './ui.ts';
import { uninstall } from './uninstall.ts';
import { upgrade } from './upgrade.ts';
import { watch } from './watch.ts';

export const COMMAND_GROUPS: Readonly<Record<string, readonly Command[]>> = {
  Start: [clone],
  Sessions: [
    sessionNew,
    sessionList,
    sessionShow,
    sessionPath,
    sessionOpen,
    sessionAdopt,
    sessionFork,
    sessionSync,
    sessionReview,
    sessionAccept,
    sessionUnaccept,
    sessionReject,
    sessionFail,
    sessionRun,
    sessionResume,
    sessionEnv,
    sessionExport,
    sessionPush,
    sessionPull,
    sessionBundle,
    sessionRemove,
  ],
  Snapshots: [
    autocommit,
    snapshotList,
    snapshotDiff,
    snapshotStatus,
    snapshotRestore,
    snapshotForget,
    snapshot,
    watch,
    sessionRecord,
    sessionExec,
    sessionLog,
    sessionActivity,
    blame,
    why,
    sessionSearch,
    bisectRun,
    sessionDiff,
    sessionCat,
    sessionMount,
    sessionUmount,
    sessionRestore,
    sessionUndo,
    sessionRedo,
  ],
  'Status and maintenance': [ui, status, du, gc, sessionSweep, doctor],
  Setup: [
    shellInit,
    completion,
    configList,
    configGet,
    configSet,
    configAdd,
    configUnset,
    cronInstall,
    cronRemove,
    cronShow,
    hooksInstall,
    hooksUninstall,
    hooksStatus,
    hook,
    keyNew,
    keyShow,
    keyExport,
    keyImport,
    mcp,
    plugin,
    shimInstall,
    shimUninstall,
    shimPrint,
    upgrade,
    uninstall,
  ],
};

export const COMMANDS = Object.values(COMMAND_GROUPS).flat();

/**
 * Commands on sessions that may be called without the word `session`. git has none of these names but `restore`, which
 * overwrites files that nobody has captured: it is `agt git restore`.
 */
export const SHORT_FORMS = new Set(
  'new list activity fork run resume sync review accept unaccept reject remove restore undo redo open path cat export'.split(
    ' ',
  ),
);
