/** The life of one `agt ui`: it says where it is, so that a second one finds it, and ends after an hour without a page. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateDirectory } from '../disk/state-home.ts';
import { attempt } from '../errors.ts';
import { storeName } from '../filter/store-name.ts';
import { onSignals } from '../process/interrupts.ts';
import { Page, type PageOptions } from './serve.ts';

const LONGEST_IDLE_MS = 3_600_000;
const LOOK_MS = 60_000;
/** Of a page that is there. One that is gone refuses at once. */
const LONGEST_ANSWER_MS = 10_000;

/** Has the address with its token, so only its owner may read it. Undefined without a HOME. */
function addressFile({ cwd, all }: PageOptions, env: NodeJS.ProcessEnv): string | undefined {
  const directory = stateDirectory(env);
  if (directory === undefined) return undefined;
  const pages = join(directory, 'pages');
  mkdirSync(pages, { recursive: true, mode: 0o700 });
  return join(pages, all ? 'all' : storeName(cwd));
}

/** The address of a page that answers; undefined if there is none. */
export async function findPage(options: PageOptions, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const file = addressFile(options, env);
  const address = file && attempt(() => readFileSync(file, 'utf8'));
  if (!address) return undefined;
  const answer = await fetch(address, { signal: AbortSignal.timeout(LONGEST_ANSWER_MS) }).catch(
    () => undefined,
  );
  await answer?.body?.cancel();
  return answer?.ok ? address : undefined;
}

/** Ends by a signal, or when no page has been there for an hour. `opened` gets the address. */
export async function servePage(
  options: PageOptions,
  env: NodeJS.ProcessEnv,
  opened: (address: string) => void,
): Promise<void> {
  const page = new Page(options);
  const address = await page.open();
  const file = addressFile(options, env);
  if (file !== undefined) writeFileSync(file, address, { mode: 0o600 });
  const ended = new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const { idleSince } = page.live;
      if (idleSince !== undefined && Date.now() - idleSince > LONGEST_IDLE_MS) done();
    }, LOOK_MS);
    const release = onSignals(() => done());
    const done = () => {
      clearInterval(timer);
      release();
      resolve();
    };
  });
  opened(address);
  await ended;
  page.close();
  if (file !== undefined && attempt(() => readFileSync(file, 'utf8')) === address)
    rmSync(file, { force: true });
}
