/** agt upgrade: the way agt was installed tells how it is upgraded. Only --check asks the network. */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError } from '../../errors.ts';
import { ownCommand, ownVersion, packed, releasesAddress } from '../../process/invocation.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { defineCommand, option } from '../command-line/command.ts';

const LONGEST_WAIT_MS = 10_000;

export const upgrade = defineCommand({
  usage: 'upgrade',
  summary: 'print how to upgrade agt here; --check: whether there is a newer version',
  description:
    'Print the command that upgrades this installation of agt. With --check, ask the place of the releases for the newest ' +
    'version, which is the only time that agt itself uses the network; AGT_DOWNLOADS names another place. After an ' +
    'upgrade, the scripts that agt has written renew themselves.',
  options: {
    check: option.flag('ask whether there is a newer version'),
    ...option.shared('json'),
  },
  examples: [['agt upgrade --check', 'ask whether there is a newer version']],
  run: async ({ check }, { env }) => {
    const version = ownVersion();
    const releases = env['AGT_DOWNLOADS'] || releasesAddress();
    const { installation, command } = howToUpgrade(releases);
    const about = { version, installation, command };
    if (!check) return { json: { ...about, latest: null, newer: null }, text: `${command}\n` };
    const latest = await latestVersion(releases);
    const newer = isNewer(latest, version);
    const text = newer
      ? `agt ${latest} is there, and this is ${version}: ${command}\n`
      : `agt ${version} is the newest version\n`;
    return { json: { ...about, latest, newer }, text };
  },
});

function howToUpgrade(releases: string): { installation: string; command: string } {
  const [own = ''] = packed ? ownCommand().map((path) => realpathSync(path)) : ownCommand().slice(1);
  const prefix = join(own, '../..');
  if (/\/node_modules\//.test(own))
    return { installation: 'npm', command: 'npm install --global agt@latest' };
  if (own.includes('/Cellar/')) return { installation: 'homebrew', command: 'brew upgrade agt' };
  const isReleased = releases !== '' && existsSync(join(prefix, 'share/doc/agt/LICENSE'));
  if (!isReleased) {
    return { installation: 'source', command: 'git pull && sh install.sh (in your clone of agt)' };
  }
  if (own === '/usr/bin/agt' && existsSync('/var/lib/dpkg/info/agt.list'))
    return { installation: 'debian', command: `apt-get install ./agt_VERSION.deb (from ${releases})` };
  const script = shellQuote(`${releases}/install.sh`);
  const command = `curl -fsSL ${script} | sh -s -- --prefix ${shellQuote(prefix)}`;
  return { installation: 'installer', command };
}

/** The checksums name the archives of a release with its version. @throws AgtError */
async function latestVersion(releases: string): Promise<string> {
  if (releases === '') {
    throw new AgtError('this agt was built from sources and knows no place of releases', {
      hints: ['in your clone of agt: git pull && sh install.sh', 'AGT_DOWNLOADS=ADDRESS names a place'],
    });
  }
  const address = `${releases}/SHA256SUMS`;
  const text = await read(address).catch((error: Error) => {
    const cause = error.cause instanceof Error ? error.cause : error;
    throw new AgtError(`cannot ask for the newest version: ${address}: ${cause.message}`, {
      hints: ['is there a network? agt works on without the answer'],
    });
  });
  const archive = new RegExp(`^[0-9a-f]{64} [ *]agt-(\\d+\\.\\d+\\.\\d+\\S*)-${process.platform}-`, 'm');
  const version = archive.exec(text)?.[1];
  if (version !== undefined) return version;
  throw new AgtError(`${address} names no agt for ${process.platform}`, {
    hints: ['tell the authors, or AGT_DOWNLOADS=ADDRESS names another place'],
  });
}

async function read(address: string): Promise<string> {
  const response = await fetch(address, { signal: AbortSignal.timeout(LONGEST_WAIT_MS) });
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  return response.text();
}

/** As semver orders them, but that a version before a release is only older than that release. */
function isNewer(one: string, other: string): boolean {
  const [numbers = [], otherNumbers = []] = [one, other].map((version) =>
    version.replace(/-.*/, '').split('.').map(Number),
  );
  const difference = numbers.map((number, n) => number - (otherNumbers[n] ?? 0)).find((step) => step !== 0);
  return difference === undefined ? other.includes('-') && !one.includes('-') : difference > 0;
}
