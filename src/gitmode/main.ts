export async function runGitMode(args: string[]): Promise<number> {
  throw new Error(args.join(' '));
}
