/**
 * Shows that a process lives, to processes in other containers too: there its number means nothing. It listens at a
 * socket, and the kernel refuses connections to that once the process has ended. No process ever accepts or sends data.
 */
import { closeSync, constants, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { attempt, errorCode } from '../errors.ts';

const PREFIX = '.alive-';

export interface LifeSign {
  /** The name of the socket in its directory. */
  readonly name: string;
  end(): void;
}

/** Undefined where the file system has no sockets, or the system permits none. */
export async function giveLifeSign(directory: string): Promise<LifeSign | undefined> {
  const { createServer } = await import('node:net');
  // Process ids repeat across containers, the kernel's clock does not.
  const name = `${PREFIX}${process.pid}-${process.hrtime.bigint().toString(36)}`;
  const place = openPlace(directory);
  const server = createServer((connection) => connection.destroy());
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(place.reach(name), () => resolve(true));
  });
  server.unref();
  const end = () => {
    server.close();
    rmSync(join(directory, name), { force: true });
    place.close();
  };
  if (isListening) return { name, end };
  place.close();
  return undefined;
}

/** `unknown`: there is no such socket, or this process may not ask. */
export type Life = 'alive' | 'ended' | 'unknown';

export async function askForLife(directory: string, name: string): Promise<Life> {
  const { connect } = await import('node:net');
  const place = openPlace(directory);
  const connection = connect(place.reach(name));
  try {
    return await new Promise<Life>((resolve) => {
      connection.once('connect', () => resolve('alive'));
      connection.once('error', (error) => resolve(errorCode(error) === 'ECONNREFUSED' ? 'ended' : 'unknown'));
      connection.once('close', () => resolve('unknown'));
    });
  } finally {
    connection.destroy();
    place.close();
  }
}

export function isLifeSign(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** Names of the signs in a directory. Some may be of processes that have ended. */
export function listLifeSigns(directory: string): string[] {
  return attempt(() => readdirSync(directory).filter(isLifeSign)) ?? [];
}

interface Place {
  /** A path for the address of a socket. */
  reach(name: string): string;
  close(): void;
}

/** The address of a socket has room for 107 bytes. Through the open directory every path is short enough. */
function openPlace(directory: string): Place {
  if (process.platform !== 'linux') return { reach: (name) => join(directory, name), close: () => {} };
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  return { reach: (name) => `/proc/self/fd/${fd}/${name}`, close: () => closeSync(fd) };
}
