/** No secret leaves in plain text, wherever it stands; and what is encrypted reveals nothing. */
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { agt, agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { makeTwo } from './two.ts';

const letters = (alphabet: string, length: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length }).map((all) => all.join(''));
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const DIGITS = '0123456789';
const WORD = `${UPPER}${UPPER.toLowerCase()}${DIGITS}`;

/** Of services: found wherever they stand. */
const FORMS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'token of GitHub': letters(WORD, 36).map((rest) => `ghp_${rest}`),
  'token of GitLab': letters(WORD, 20).map((rest) => `glpat-${rest}`),
  'key of AWS': letters(`${UPPER}234567`, 16).map((rest) => `AKIA${rest}`),
  'token of Slack': letters(WORD, 24).map((rest) => `xoxb-1234-${rest}`),
  'key of Stripe': letters(WORD, 24).map((rest) => `sk_live_${rest}`),
  'key of OpenAI': letters(WORD, 40).map((rest) => `sk-proj-${rest}`),
  'key of Anthropic': letters(WORD, 40).map((rest) => `sk-ant-api03-${rest}`),
  'token of npm': letters(WORD, 36).map((rest) => `npm_${rest}`),
  'key of age': letters(`${UPPER}${DIGITS}`, 58).map((rest) => `AGE-SECRET-KEY-1${rest}`),
  token: letters(WORD, 30).map((rest) => `eyJhbGciOiJIUzI1.eyJzdWIiOiIx.${rest}`),
};
/** Without a form: known from a file of keys. */
const VALUES = letters(`${WORD}-+_`, 12).map((rest) => `p4${rest}x`);

interface Planted {
  readonly secret: string;
  readonly place: 'content' | 'name' | 'label' | 'summary';
}

/** Always the same, so that the test is; `count` different ones. */
function secretsFor(seed: number, count: number): Planted[] {
  const forms = Object.values(FORMS);
  const places = ['content', 'name', 'label', 'summary'] as const;
  return Array.from({ length: count }, (_, i) => {
    const form = i % 3 === 0 ? VALUES : (forms[i % forms.length] as fc.Arbitrary<string>);
    const [secret = ''] = fc.sample(form, { seed: seed + i, numRuns: 1 });
    // A snapshot each for what stands in messages: that takes longer.
    return { secret, place: i % 25 < 2 ? (places[2 + (i % 25)] as 'label') : (places[i % 2] as 'content') };
  });
}

/** `.env` has those without a form; it is ignored. */
function plant(repository: string, id: string, planted: readonly Planted[]): void {
  agtOk(repository, 'session', 'new', '--id', id);
  const { sandbox } = sessionOf(repository, id);
  const values = planted.filter((_, i) => i % 3 === 0);
  write(join(sandbox, '.env'), values.map(({ secret }, i) => `SOME_${i}=${secret}\n`).join(''));
  for (const [i, { secret, place }] of planted.entries()) {
    if (place === 'content') write(join(sandbox, `f${i}.txt`), `something\nbefore ${secret} after\n`);
    if (place === 'name') write(join(sandbox, `n${i}`, `${secret}.txt`), 'nothing\n');
    if (place === 'label') agtOk(repository, 'autocommit', id, '--label', `see ${secret}`);
    if (place === 'summary')
      agtOk(repository, 'session', 'record', id, '--tool', 'Bash', '--summary', `run ${secret}`);
  }
  agtOk(repository, 'autocommit', id);
}

/** Every ref and object of a remote, and all that a reader without a key makes of heads and parts. */
function everythingIn(remote: string): string {
  const refs = git(remote, 'for-each-ref', '--format=%(refname)').split('\n');
  const opened = makeTempDir('opened');
  git(opened, 'clone', '-q', '--mirror', remote, '.');
  for (const commit of git(remote, 'rev-list', '--glob=refs/agt/shared/*/parts').split('\n')) {
    const part = blob(remote, `${commit}:part`);
    const start = part.indexOf('\nPACK') + 1;
    if (start > 0)
      run(REAL_GIT, ['index-pack', '--stdin', '--fix-thin'], { cwd: opened, input: part.subarray(start) });
  }
  const heads = refs.filter((ref) => ref.endsWith('/head')).map((ref) => blob(remote, ref));
  const inflated = heads.map((head) => (head[0] === 0x78 ? inflateSync(head).toString('latin1') : ''));
  const objects = run(REAL_GIT, ['cat-file', '--batch-all-objects', '--batch'], { cwd: opened }).stdout;
  return [...refs, ...inflated, objects].join('\n');
}

function blob(repository: string, name: string): Buffer {
  const { stdout } = run(REAL_GIT, ['cat-file', 'blob', name], { cwd: repository });
  return Buffer.from(stdout, 'latin1');
}

test('of 500 secrets none is in what an encrypted push leaves; a plain one names them all, and is refused', () => {
  const { here, remote } = makeTwo();
  const planted = secretsFor(20, 500);
  plant(here, 's1', planted);
  const before = everythingIn(remote);
  const refused = agt(here, 'session', 'push', 's1', '--plain');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(
    /^error: 500 secrets would leave session "s1" in plain text, and nothing was sent\n/,
  );
  expect(refused.stderr).toMatch(/\nhint: to send all .*: leave out --plain\nhint: .*: --allow-secrets\n$/);
  const lines = refused.stderr.split('\n');
  const unnamed = planted.filter(({ secret, place }, i) => {
    const where = {
      content: `f${i}.txt in `,
      name: `the name of a file in n${i} in `,
      label: 'message of ',
      summary: 'message of ',
    }[place];
    return !lines.some((line) => line.includes(`, ${secret.slice(0, 4)}`) && line.includes(where));
  });
  expect(unnamed).toEqual([]);
  expect(planted.filter(({ secret }) => refused.stderr.includes(secret))).toEqual([]);
  expect(everythingIn(remote)).toBe(before);
  agtOk(here, 'session', 'push', 's1');
  const sealed = everythingIn(remote);
  expect(sealed.length).toBeGreaterThan(before.length);
  expect(planted.filter(({ secret }) => sealed.includes(secret))).toEqual([]);
  // So would a search that finds nothing.
  agtOk(here, 'session', 'push', 's1', '--plain', '--allow-secrets');
  const plain = everythingIn(remote);
  expect(planted.filter(({ secret }) => !plain.includes(secret))).toEqual([]);
});

test('what is encrypted has neither id, prompts, names of files nor contents, and no name of the user', () => {
  const { here, remote } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 'secret-plans');
  const { sandbox } = sessionOf(here, 'secret-plans');
  write(join(sandbox, 'plans-for-tomorrow.txt'), 'we dig a tunnel under the harbour\n');
  agtOk(here, 'autocommit', 'secret-plans', '--label', 'prompt: dig the tunnel');
  git(sandbox, 'add', '-A');
  git(sandbox, 'commit', '-q', '-m', 'the harbour at night');
  agtOk(here, 'session', 'push', 'secret-plans');
  write(join(sandbox, 'plans-for-tomorrow.txt'), 'we dig another tunnel under the harbour\n');
  agtOk(here, 'session', 'push', 'secret-plans');
  const words = [
    'secret-plans',
    'plans-for-tomorrow',
    'tunnel',
    'harbour',
    'prompt',
    'Agt-',
    'sandbox',
    here,
  ];
  const sealed = everythingIn(remote);
  expect(words.filter((word) => sealed.includes(word))).toEqual([]);
  agtOk(here, 'session', 'push', 'secret-plans', '--plain');
  const plain = everythingIn(remote);
  expect(words.filter((word) => !plain.includes(word))).toEqual([]);
});

describe('the search', () => {
  const found = (files: Record<string, string>) => {
    const { here } = makeTwo();
    agtOk(here, 'session', 'new', '--id', 's1');
    for (const [path, content] of Object.entries(files))
      write(join(sessionOf(here, 's1').sandbox, path), content);
    agtOk(here, 'autocommit', 's1');
    return agt(here, 'session', 'push', 's1', '--plain', '--dry-run').stderr;
  };

  test('finds values of logins, assigned random values, keys and passwords in addresses', () => {
    const stderr = found({
      '.env':
        'export DATABASE_PASSWORD="hunter-two-three"\nREGION=eu-west-1\nAPP_URL=http://localhost:3000\nMODE=production\n',
      'auth.json': '{"tokens": {"refresh": "r8Xk2-99adfQ"}}',
      '.gitignore': '.env\nauth.json\n',
      'notes.md': 'it is hunter-two-three in eu-west-1 at http://localhost:3000 in production\n',
      'src/login.ts': "send('r8Xk2-99adfQ')\n",
      'src/config.ts':
        'export const apiKey = "zQ8fK2mVx91LpR7tYw3N";\nconst cacheKey = "items-of-the-user";\n',
      'deploy.pem.txt': '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n',
      'db.yml': 'url: postgres://app:s3cretpw@db.example.com/app\nother: postgres://app:$PASSWORD@db/app\n',
      'package-lock.json': '{"integrity": "sha512-zQ8fK2mVx91LpR7tYw3NzQ8fK2mVx91LpR7tYw3N=="}\n',
    });
    const lines = stderr.split('\n').filter((line) => / in [0-9a-f]{10}$/.test(line));
    expect(lines.map((line) => line.replace(/^hint: /, '').replace(/ in [0-9a-f]{10}/, '')).sort()).toEqual(
      [
        'password in an address, postâ\x80¦: db.yml',
        'private key, ----â\x80¦: deploy.pem.txt',
        'value of .env, huntâ\x80¦: notes.md',
        'random value of a key or a password, zQ8fâ\x80¦: src/config.ts',
        'value of auth.json, r8Xkâ\x80¦: src/login.ts',
      ].sort(),
    );
  });

  test('finds nothing in ordinary files, and nothing that the remote has', () => {
    expect(
      found({
        'a.txt': 'one token, and a password\n',
        'lib/key.js': 'export const key = (x) => x.token2;\n',
      }),
    ).toBe('note: s1 is not encrypted on origin, and goes there without ignored files\n');
  });
});
