/**
 * A call of an agent in a session that names another worktree, such as the user's checkout: agt records that folder before
 * the call and after it, where a checkout without a session has its snapshots. A file tells of the call meanwhile, so the
 * front passes the next event of the session on, whatever it is: not every agent tells that a call has failed.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNamed } from '../../config/values.ts';
import { attempt } from '../../errors.ts';
import { type BeforeTool, type FileEvent, summaryIn } from '../../integrations/event.ts';
import { fenceOf, foldersNamed, onlyReads, refusalOf } from '../../integrations/fence.ts';
import type { Integration } from '../../integrations/integration.ts';
import type { Place } from '../../integrations/place.ts';
import { strayCalls } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { overlayOption } from '../../running/namespace.ts';
import { conversationName, noteCall } from '../../session/calls-at-work.ts';
import { type Context, openContext } from '../context.ts';
import { placeOf } from './call.ts';

interface StrayCall {
  readonly folders: readonly string[];
  readonly tool: string;
  readonly id?: string | undefined;
  readonly summary?: string | undefined;
}

interface Agent {
  readonly context: Context;
  readonly place: Place;
  readonly integration: Integration;
}

/** Does as agt.fence says. Returns why the agent must not make the call; undefined if it may. */
export async function keepFence(acting: Agent, event: FileEvent): Promise<string | undefined> {
  const { context, place, integration } = acting;
  const { user, record } = place;
  if (user === undefined || record === undefined) return undefined;
  const notes = strayCalls(user.agtDir, record.session_id);
  await endStrays(acting, event, notes);
  const fence = event.kind === 'before-tool' ? fenceOf(user, record) : undefined;
  if (event.kind !== 'before-tool' || fence === undefined || user.settings.fence === 'off') return undefined;
  if (onlyReads(event.tool) || isNamed(event.tool, place.readOnlyTools)) return undefined;
  const refusal =
    user.settings.fence === 'refuse' && integration.refuseTool && refusalOf(fence, record, event);
  if (refusal) return `${refusal}${adviceOfOverlay(user)}`;
  const folders = foldersNamed(fence, event, context.env['HOME']);
  if (folders.length > 0) await beginStray(acting, event, folders, notes);
  return undefined;
}

/** The model may tell the user. */
function adviceOfOverlay({ worktree, commonDir }: Repository): string {
  const option = overlayOption(worktree ?? commonDir);
  if (option === undefined) return '';
  return ` (In a session that the user makes with agt run ${option}, that path is the sandbox.)`;
}

/** Before the call. `folders`: real paths. Those that could not be captured are not its work afterwards. */
async function beginStray(acting: Agent, event: BeforeTool, folders: readonly string[], notes: string) {
  const { tool, callId: id, summary } = event;
  const results = await Array.fromAsync(folders, (folder) =>
    captureStray(acting, event, folder, { before: { tool, id } }).catch((error: Error) => error),
  );
  const call: StrayCall = { folders: folders.filter((_, i) => !results[i]), tool, id, summary };
  mkdirSync(notes, { recursive: true });
  writeFileSync(join(notes, nameOf(id)), JSON.stringify(call));
  for (const error of results) if (error) throw error;
}

/** After it. Every event that is not about the end of a call ends all of them. */
async function endStrays(acting: Agent, event: FileEvent, notes: string): Promise<void> {
  const names = attempt(() => readdirSync(notes)) ?? [];
  if (names.length === 0) return;
  const own = event.kind === 'tool' && event.callId !== undefined ? nameOf(event.callId) : undefined;
  const outcome = event.kind === 'tool' ? event.outcome : 'succeeded';
  for (const name of names.filter((one) => own === undefined || one === own)) {
    const path = join(notes, name);
    try {
      const { folders, tool, id, summary } = JSON.parse(readFileSync(path, 'utf8')) as StrayCall;
      for (const folder of folders.filter((one) => existsSync(one)))
        await captureStray(acting, event, folder, {
          tool,
          call: { outcome, id, summary: summaryIn([folder], summary) },
        });
    } finally {
      rmSync(path, { force: true });
      attempt(() => rmdirSync(notes)); // other calls may be under way
    }
  }
}

async function captureStray(
  { context, place, integration }: Agent,
  { conversation }: FileEvent,
  folder: string,
  options: Omit<Parameters<Place['capture']>[0], 'now'>,
): Promise<void> {
  const there = await placeOf(openContext(folder, context.env), false);
  if (there === undefined) return;
  const about = { agent: integration.program, conversation, bySession: place.record?.session_id };
  const name = conversationName(integration.name, conversation);
  const note = (does: 'begins' | 'ends') =>
    name !== undefined && existsSync(there.agtDir) && noteCall(there.agtDir, there.id, name, does);
  if (options.call !== undefined) note('ends');
  await there.capture({ ...options, ...about, now: context.now(), onlyIfChanged: true });
  if (options.before !== undefined) note('begins');
}

function nameOf(id = ''): string {
  return createHash('sha1').update(id).digest('hex');
}
