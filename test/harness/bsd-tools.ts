/** Programs of POSIX as macOS has them: each refuses the options that only GNU's knows, and otherwise runs GNU's. */
import { join } from 'node:path';
import { makeTempDir, run, write } from './world.ts';

/** Patterns of sh for a word. Long options are refused too. */
const ONLY_GNU = {
  find: '-printf | -fprintf | -regextype | -readable | -writable | -executable | -daystart',
  stat: '-c | -c* | -L*c*',
  sed: '-z | -s | -u | -nz | -zE | -*z*E*',
  date: '-d | -d* | -I*',
  readlink: '-e | -m | -*e* | -*m*',
  cp: '-t | -T | -u',
  grep: '-P | -*P',
  mktemp: '-p* | -V',
  sort: '-V | -h',
  xargs: '-d* | -a*',
} as const;

/** A directory for PATH, before the others, and the file that gets each refused call. */
export function bsdTools(): { readonly directory: string; readonly refused: string } {
  const directory = makeTempDir('bsd');
  const refused = join(directory, 'refused');
  write(refused, '');
  for (const [name, options] of Object.entries(ONLY_GNU)) {
    const real = run('sh', ['-c', `command -v ${name}`], { cwd: '/' }).stdout.trim();
    const refuse = `echo "${name} $word" >>'${refused}'; echo "usage: ${name} ..." >&2; exit 1`;
    const script = `for word do case $word in ${options} | --[a-z]*) ${refuse} ;; esac done\nexec ${real} "$@"`;
    write(join(directory, name), `#!/bin/sh\n${script}\n`, 0o755);
  }
  return { directory, refused };
}
