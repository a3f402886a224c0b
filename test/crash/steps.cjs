/**
 * Loaded before agt's bundle: counts every step with which it changes the disk or talks to git, and kills the process
 * with SIGKILL at the one that AGT_TEST_KILL_AT names, before it is done. AGT_TEST_KILL_GROUP=1 kills its git children
 * too; without, they go on as orphans. At the end the count goes to the file that AGT_TEST_STEPS names.
 */
const fs = require('node:fs');
const childProcess = require('node:child_process');

const killAt = Number(process.env.AGT_TEST_KILL_AT ?? 0);
const { appendFileSync } = fs;
let steps = 0;

function step() {
  steps++;
  if (steps !== killAt) return;
  process.kill(process.env.AGT_TEST_KILL_GROUP === '1' ? -process.pid : process.pid, 'SIGKILL');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // it is on its way
}

function count(object, name) {
  const original = object[name];
  object[name] = function (...args) {
    step();
    return original.apply(this, args);
  };
}

for (const name of [
  'chmodSync',
  'copyFileSync',
  'ftruncateSync',
  'linkSync',
  'mkdirSync',
  'mkdtempSync',
  'renameSync',
  'rmSync',
  'rmdirSync',
  'symlinkSync',
  'unlinkSync',
  'utimesSync',
  'writeFileSync',
  'writeSync',
]) {
  count(fs, name);
}

const { spawn } = childProcess;
childProcess.spawn = (...args) => {
  step();
  const child = spawn(...args);
  if (child.stdin !== null) for (const name of ['write', 'end']) count(child.stdin, name);
  return child;
};

process.on('exit', () => {
  if (process.env.AGT_TEST_STEPS !== undefined) appendFileSync(process.env.AGT_TEST_STEPS, `${steps}\n`);
});
