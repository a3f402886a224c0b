/** A server of git's smart HTTP: git http-backend behind Node's own server. `node git-http.ts DIRECTORY` prints its port. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  const { pathname, search } = new URL(request.url ?? '', 'http://x');
  const { headers, method } = request;
  const env = {
    ...process.env,
    GIT_PROJECT_ROOT: process.argv[2],
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: pathname,
    QUERY_STRING: search.slice(1),
    REQUEST_METHOD: method,
    CONTENT_TYPE: headers['content-type'] ?? '',
    HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
    REMOTE_USER: 'somebody',
    REMOTE_ADDR: '127.0.0.1',
  };
  const child = spawn('git', ['http-backend'], { env });
  request.pipe(child.stdin);
  const parts: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => parts.push(part));
  child.on('close', () => {
    const all = Buffer.concat(parts);
    const end = all.indexOf('\r\n\r\n');
    const lines = all.subarray(0, end).toString().split('\r\n');
    const { Status: status = '200', ...rest } = Object.fromEntries(lines.map((line) => line.split(': ')));
    response.writeHead(Number(status.slice(0, 3)), rest);
    response.end(all.subarray(end + 4));
  });
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
