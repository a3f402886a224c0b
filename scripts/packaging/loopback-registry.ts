/** Serves a release on the loopback, and its packages as npm's registry does. Words: DIRECTORY SYSTEM. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const [directory = '', system = ''] = process.argv.slice(2);
const { name, version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
const executable = `@${name}/${system}`;
const limits = { os: [process.platform], cpu: [process.arch] };
const PACKAGES = new Map([
  [`/${name}`, { name, bin: { agt: 'bin/agt' }, optionalDependencies: { [executable]: version } }],
  [`/${executable}`, { name: executable, ...limits }],
]);

const server = createServer((request, response) => {
  const path = decodeURIComponent(request.url ?? '');
  const found = PACKAGES.get(path);
  try {
    response.end(found === undefined ? readFileSync(join(directory, path)) : about(found));
  } catch {
    response.writeHead(404).end();
  }
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port));

function about(manifest: { name: string }): string {
  const archive = `${manifest.name.replace('@', '').replace('/', '-')}-${version}.tgz`;
  const tarball = `http://127.0.0.1:${(server.address() as { port: number }).port}/${archive}`;
  const versions = { [version]: { ...manifest, version, dist: { tarball } } };
  return JSON.stringify({ name: manifest.name, 'dist-tags': { latest: version }, versions });
}
