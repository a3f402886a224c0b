export function becomeGit(path: string, args: readonly string[]): Promise<number> {
  process.on('SIGPIPE', () => {});
  process.execve!(path, [path, ...args], process.env as Record<string, string>);
}
