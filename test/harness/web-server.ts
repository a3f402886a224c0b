/** A web server on the loopback, in a process of its own. It ends with the test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

const SERVER = `
const { readFileSync } = require('node:fs');
const server = require('node:http').createServer((request, response) => {
  try {
    response.end(readFileSync(process.argv[1] + request.url));
  } catch {
    response.writeHead(404).end();
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

/** Returns the address at which the files of `directory` are. */
export async function serve(directory: string): Promise<string> {
  const server = spawn(process.execPath, ['-e', SERVER, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void server.kill());
  const [port] = await once(server.stdout, 'data');
  return `http://127.0.0.1:${String(port).trim()}`;
}
