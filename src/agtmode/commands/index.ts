/** Every command of agt, in the order in which help shows them. */
import type { Command } from '../command-line/command.ts';
import { autocommit } from './autocommit.ts';
import { clone } from './clone.ts';
import { configGet } from './config/get.ts';
import { configList } from './config/list.ts';
import { configSet } from './config/set.ts';
import { configUnset } from './config/unset.ts';
import { cronInstall, cronRemove, cronShow } from './cron.ts';
import { doctor } from './doctor.ts';
import { du } from './du.ts';
import { gc } from './gc.ts';
import { hook } from './hook.ts';
import { hooksInstall } from './hooks/install.ts';
import { hooksStatus } from './hooks/status.ts';
import { hooksUninstall } from './hooks/uninstall.ts';
import { sessionAccept } from './session/accept.ts';
import { sessionAdopt } from './session/adopt.ts';
import { sessionCat } from './session/cat.ts';
import { sessionDiff } from './session/diff.ts';
import { sessionEnv } from './session/env.ts';
import { sessionExec } from './session/exec.ts';
import { sessionExport } from './session/export.ts';
import { sessionFail } from './session/fail.ts';
import { sessionFork } from './session/fork.ts';
import { sessionList } from './session/list.ts';
import { sessionLog } from './session/log.ts';
import { sessionMount } from './session/mount.ts';
import { sessionNew } from './session/new.ts';
import { sessionOpen } from './session/open.ts';
import { sessionPath } from './session/path.ts';
import { sessionRecord } from './session/record.ts';
import { sessionReject } from './session/reject.ts';
import { sessionRemove } from './session/remove.ts';
import { sessionRestore } from './session/restore.ts';
import { sessionRun } from './session/run.ts';
import { sessionShow } from './session/show.ts';
import { sessionSweep } from './session/sweep.ts';
import { sessionSync } from './session/sync.ts';
import { sessionUmount } from './session/umount.ts';
import { sessionUnaccept } from './session/unaccept.ts';
import { sessionRedo, sessionUndo } from './session/undo.ts';
import { completion, shellInit } from './shell-init.ts';
import { shimInstall, shimPrint, shimUninstall } from './shim.ts';
import { snapshotForget } from './snapshot/forget.ts';
import { snapshotDiff, snapshotList } from './snapshot/list.ts';
import { snapshotRestore } from './snapshot/restore.ts';
import { snapshotStatus } from './snapshot/status.ts';
import { snapshot } from './snapshot/take.ts';
import { status } from './status.ts';
import { watch } from './watch.ts';

export const COMMANDS: readonly Command[] = [
  clone,
  sessionNew,
  sessionList,
  sessionShow,
  sessionPath,
  sessionOpen,
  sessionAdopt,
  sessionFork,
  sessionSync,
  sessionAccept,
  sessionUnaccept,
  sessionReject,
  sessionFail,
  sessionRun,
  sessionEnv,
  sessionExport,
  sessionRemove,
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
  sessionDiff,
  sessionCat,
  sessionMount,
  sessionUmount,
  sessionRestore,
  sessionUndo,
  sessionRedo,
  status,
  du,
  gc,
  sessionSweep,
  doctor,
  shellInit,
  completion,
  configList,
  configGet,
  configSet,
  configUnset,
  cronInstall,
  cronRemove,
  cronShow,
  hooksInstall,
  hooksUninstall,
  hooksStatus,
  hook,
  shimInstall,
  shimUninstall,
  shimPrint,
];
