/** The arguments after `--`: paths, as in git. yargs stores them under `--`, a name that no option can have. */
export function pathspecArguments(args: unknown): string[] {
  const words = (args as { '--'?: readonly unknown[] })['--'];
  return (words ?? []).map(String);
}
