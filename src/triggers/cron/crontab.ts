/** Reads and replaces the user's crontab with crontab(1). Strings hold one byte per character. */
import { AgtError, errorCode } from '../../errors.ts';
import { runProgram } from '../../process/program.ts';

const ALTERNATIVES = 'use a systemd timer, launchd or agt watch';

/** Empty if the user has none. @throws AgtError if that is not certain, since agt would then overwrite a crontab. */
export async function readCrontab(env: NodeJS.ProcessEnv): Promise<string> {
  const { exitCode, stdout, stderr } = await runCrontab(['-l'], env);
  if (exitCode === 0) return stdout;
  if (/no crontab for|no such file or directory/i.test(stderr)) return '';
  throw failed('read', stderr);
}

export async function writeCrontab(env: NodeJS.ProcessEnv, crontab: string): Promise<void> {
  const { exitCode, stderr } = await runCrontab(['-'], env, crontab);
  if (exitCode !== 0) throw failed('change', stderr);
}

function failed(verb: string, stderr: string): AgtError {
  return new AgtError(`cannot ${verb} the crontab: ${stderr.trim().split('\n')[0]}`, {
    hints: ['nothing was changed', `instead of cron, ${ALTERNATIVES}`],
  });
}

async function runCrontab(args: readonly string[], env: NodeJS.ProcessEnv, input = '') {
  const options = { env: { ...env, LC_ALL: 'C' }, input: Buffer.from(input, 'latin1') };
  const run = await runProgram('crontab', args, options).catch((cause: unknown) => {
    const code = errorCode(cause);
    throw new AgtError(
      code === 'ENOENT' ? 'no crontab program found on PATH' : `cannot run crontab: ${code}`,
      { hints: [`install cron, or ${ALTERNATIVES}`], cause },
    );
  });
  return { ...run, stdout: run.stdout.toString('latin1') };
}
