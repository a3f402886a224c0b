/**
 * `agt ui`: serves the page on 127.0.0.1, to whoever has the token in its address. Another site cannot read it: the token is
 * random, the names in Host and Origin are checked, and the browser may load nothing from anywhere else.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { json } from 'node:stream/consumers';
import { AgtError, errorCode, isAgtError } from '../errors.ts';
import { asset, ICON, PAGE } from './assets.ts';
import { Live } from './live.ts';
import { answerRequest, type PageRequest, type RequestPlace, type Run, runForBytes } from './requests.ts';
import { isSecret } from './secrets.ts';

const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'",
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** Files that a browser shows as a picture. Anything else is text, whatever is in it. */
const PICTURES: Readonly<Record<string, string>> = {
  ...{ '.png': 'image/png', '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.gif': 'image/gif' },
  ...{ '.webp': 'image/webp', '.svg': 'image/svg+xml', '.ico': 'image/x-icon', '.avif': 'image/avif' },
};

export interface PageOptions {
  readonly cwd: string;
  readonly port: number;
  /** Every repository that agt knows. */
  readonly all: boolean;
  readonly run: Run;
}

export class Page {
  readonly live: Live;
  private readonly listed = new Set<string>();
  private readonly options: PageOptions;
  private readonly token = randomBytes(18).toString('base64url');
  private readonly server = createServer((request, response) => {
    this.answer(request, response).catch((error: unknown) => fail(response, error));
  });

  constructor(options: PageOptions) {
    this.options = options;
    this.live = new Live(options.cwd, options.all);
  }

  /** Returns the address. @throws AgtError if the port is taken. */
  async open(): Promise<string> {
    const { port } = this.options;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject).listen({ host: '127.0.0.1', port }, resolve);
    }).catch((error: unknown) => {
      const why = errorCode(error) === 'EADDRINUSE' ? 'is taken' : `cannot be used: ${errorCode(error)}`;
      throw new AgtError(`port ${port} ${why}`, { hints: ['leave out --port: agt finds a free one'] });
    });
    this.live.start();
    return `http://127.0.0.1:${this.port}/${this.token}/`;
  }

  close(): void {
    this.live.close();
    this.server.close();
    this.server.closeAllConnections();
  }

  private get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const url = new URL(request.url ?? '/', 'http://page');
    const [, token = '', ...rest] = url.pathname.split('/');
    if (!this.isOwn(request) || !isEqual(token, this.token)) return end(response, 403, 'not for you\n');
    // The page asks for its files below this address.
    if (rest.length === 0) {
      response.setHeader('Location', `/${token}/${url.search}`);
      return end(response, 301, '');
    }
    const path = rest.join('/');
    if (request.method === 'POST' && path === 'run') {
      const asked = (await json(request)) as PageRequest;
      const place = this.placeOf(asked);
      const isList = asked.words.slice(0, 2).join(' ') === 'session list';
      const answer = await answerRequest(
        asked,
        isList ? this.listAll : this.options.run,
        place,
        (progress) => {
          if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'application/json' });
          response.write(`${JSON.stringify({ progress })}\n`);
        },
      );
      if (isList) this.remember(answer);
      return end(response, 200, JSON.stringify(answer), 'application/json');
    }
    if (request.method !== 'GET') return end(response, 405, 'only GET\n');
    if (path === 'events') return this.live.add(response);
    if (path === 'file') return this.sendFile(url.searchParams, response);
    if (path === '') return end(response, 200, PAGE, 'text/html; charset=utf-8');
    if (path === 'page.js') return end(response, 200, asset(path), 'text/javascript; charset=utf-8');
    if (path === 'page.css') return end(response, 200, asset(path), 'text/css; charset=utf-8');
    if (path === 'icon.svg') return end(response, 200, ICON, 'image/svg+xml');
    end(response, 404, 'there is nothing here\n');
  }

  /** Not a name that somebody else leads here, and no page of another site. */
  private isOwn({ headers: { host = '', origin }, method }: IncomingMessage): boolean {
    const own = [`127.0.0.1:${this.port}`, `localhost:${this.port}`];
    if (!own.includes(host)) return false;
    return origin === undefined ? method === 'GET' : origin === `http://${host}`;
  }

  private readonly listAll: Run = (words, cwd) =>
    this.options.run(this.options.all ? [...words, '--everywhere'] : words, cwd);

  /** An ended session may be the only one of its repository. */
  private remember({ json }: { json?: unknown }): void {
    for (const { repository } of Array.isArray(json) ? (json as { repository?: string }[]) : [])
      if (repository !== undefined) this.listed.add(repository);
  }

  private placeOf({ session, repository, inSandbox }: PageRequest): RequestPlace {
    const row = this.live.rows.find(
      (one) =>
        one['session_id'] === session && (repository === undefined || one['repository'] === repository),
    );
    const sandbox = row?.['sandbox'] as string | undefined;
    if ((inSandbox || row?.['working_copy'] === 'attached') && sandbox !== undefined)
      return { cwd: sandbox, sandbox };
    if (repository === undefined) return { cwd: this.options.cwd, sandbox };
    if (!this.listed.has(repository) && !this.live.rows.some((one) => one['repository'] === repository))
      throw new AgtError('agt does not list this repository');
    return { cwd: repository.replace(/\/\.git$/, ''), sandbox };
  }

  private async sendFile(asked: URLSearchParams, response: ServerResponse): Promise<void> {
    const { session = '', snapshot, path = '', repository, secrets } = Object.fromEntries(asked);
    const { cwd, sandbox } = this.placeOf({ words: [], session, ...(repository && { repository }) });
    if (!secrets && isSecret(path, sandbox)) return end(response, 403, 'a secret file\n');
    const about = session === '' ? [] : [`--session=${session}`];
    const words = ['session', 'cat', ...about, `${snapshot}:${path}`];
    const { exitCode, out, err } = await runForBytes(words, cwd);
    if (exitCode !== 0) return end(response, 404, err);
    response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    end(response, 200, out, PICTURES[extname(path).toLowerCase()] ?? 'text/plain; charset=utf-8');
  }
}

function isEqual(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function end(response: ServerResponse, status: number, body: string | Buffer, type = 'text/plain'): void {
  if (!response.headersSent) response.writeHead(status, { 'Content-Type': type });
  response.end(body);
}

function fail(response: ServerResponse, error: unknown): void {
  const { message, hints } = isAgtError(error) ? error : { message: String(error), hints: [] };
  end(response, 400, JSON.stringify({ error: message, hints }), 'application/json');
}
