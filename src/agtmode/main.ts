export async function runAgtMode(args: string[]): Promise<number> {
  process.stdout.write(args.join(' '));
  return 0;
}
