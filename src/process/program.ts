/** Runs a program of the user's system, other than git, to its end. */

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: Buffer;
}

/** @throws the system's error if it could not be started. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { env = process.env, ...options }: ProgramOptions = {},
) {
  const { execa } = await import('execa'); // most commands run none
  const settings = { extendEnv: false, stripFinalNewline: false, reject: false, encoding: 'buffer' } as const;
  const run = await execa(program, args, { ...options, ...settings, env });
  if (run.exitCode === undefined) throw run.cause ?? run;
  return {
    exitCode: run.exitCode,
    stdout: Buffer.from(run.stdout),
    stderr: Buffer.from(run.stderr).toString(),
  };
}
