/**
 * Starts the stand-in for the model and then a command, both in the network that this process is in: one with a loopback
 * device alone. Arguments: port, file for the requests, command.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { startModel } from './model.ts';

const [port = '', log = '', program = '', ...args] = process.argv.slice(2);
writeFileSync(log, '');
const server = await startModel(Number(port), (request) =>
  appendFileSync(log, `${JSON.stringify(request)}\n`),
);
const child = spawn(program, args, { stdio: 'inherit' });
child.on('error', (error) => {
  console.error(error.message);
  process.exit(127);
});
child.on('exit', (code) => {
  server.closeAllConnections();
  process.exit(code ?? 128);
});
