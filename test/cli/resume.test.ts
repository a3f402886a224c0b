/** agt resume, with a stand-in for the agent that says how it was started. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agtOk, makeRepository, makeTempDir, type Outcome, run, write } from '../harness/world.ts';

const ID = 'f94c118e-c09e-4fad-9acf-05a14a0c730f';
const slug = (path: string) => path.replace(/[^A-Za-z0-9]/g, '-');

/** An agent with a conversation of two prompts, whose snapshots a folder has. */
class Agent {
  readonly home = makeTempDir('home');
  readonly bin = makeTempDir('bin');
  readonly program: string;

  constructor(program = 'claude') {
    this.program = program;
    write(join(this.bin, program), '#!/bin/sh\necho "started in $PWD: $*"\n', 0o755);
  }

  /** `files`: in the folder, or session, of the agent. */
  work(cwd: string): this {
    const line = (type: string, content: unknown) => {
      const timestamp = new Date().toISOString();
      return `${JSON.stringify({ type, message: { content }, timestamp, cwd, sessionId: ID })}\n`;
    };
    let text = '';
    for (const prompt of ['first', 'second']) {
      const about = ['--agent', this.program, '--conversation', ID];
      agtOk(cwd, 'snapshot', ...about, '--label', `prompt: ${prompt}`);
      text += line('user', prompt);
      write(join(cwd, 'file'), `${prompt}\n`);
      agtOk(cwd, 'snapshot', ...about);
      text += line('assistant', `done ${prompt} in ${cwd}/file`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1100); // snapshots know seconds alone
    }
    write(join(this.home, '.claude/projects', slug(cwd), `${ID}.jsonl`), text);
    return this;
  }

  run(cwd: string, ...args: string[]): Outcome {
    const env = { HOME: this.home, CLAUDE_CONFIG_DIR: undefined, PATH: `${this.bin}:${process.env['PATH']}` };
    // The store of the folder is in the HOME of the tests.
    const state = { XDG_STATE_HOME: join(process.env['HOME'] ?? '', '.local/state') };
    return run(AGT, args, { cwd, env: { ...env, ...state } });
  }

  transcripts(cwd: string): string[] {
    const directory = join(this.home, '.claude/projects', slug(cwd));
    return existsSync(directory) ? readdirSync(directory) : [];
  }

  transcript(cwd: string, id: string): string {
    return readFileSync(join(this.home, '.claude/projects', slug(cwd), `${id}.jsonl`), 'utf8');
  }
}

const started = (cwd: string, words: string) => `started in ${cwd}: ${words}\n`;
const idIn = ({ stdout }: Outcome) => /--resume ([0-9a-f-]{36})/.exec(stdout)?.[1] ?? '';

describe('agt resume', () => {
  it('goes on with the conversation of a folder, or with what it was at a snapshot', () => {
    const folder = makeRepository();
    const agent = new Agent().work(folder);
    expect(agent.run(folder, 'resume')).toEqual({
      exitCode: 0,
      stdout: started(folder, `--resume ${ID}`),
      stderr: '',
    });
    expect(agent.transcripts(folder)).toEqual([`${ID}.jsonl`]);
    expect(agent.run(folder, 'resume', '--at', 'second', '-n').stdout).toMatch(/^would run claude --resume /);
    expect(agent.transcripts(folder)).toHaveLength(1);
    const before = agent.transcript(folder, ID);
    const outcome = agent.run(folder, 'resume', '--at', 'second', '--', '-p', 'go on');
    const id = idIn(outcome);
    expect(outcome).toMatchObject({ exitCode: 0, stdout: started(folder, `--resume ${id} -p go on`) });
    expect(outcome.stderr).toMatch(
      /^note: the files stay as they are; to go back: agt .*restore [0-9a-f]{10}\n$/,
    );
    expect(id).not.toBe(ID);
    expect(agent.transcript(folder, id)).toBe(
      before.split('\n').slice(0, 2).join('\n').replaceAll(ID, id).concat('\n'),
    );
    expect(agent.transcript(folder, ID)).toBe(before);
    expect(agent.run(folder, 'resume', '--at', 'second', '--whole').stdout).toBe(
      started(folder, `--resume ${ID}`),
    );
    expect(agent.run(folder, 'resume', '--at', 'first').stderr).toMatch(
      /^error: the conversation .* begins after that snapshot\n/,
    );
  });

  it('runs in the sandbox of a session as agt run does, and in a fork with the paths of the fork', () => {
    const { sandbox, repository, id } = makeSession();
    const agent = new Agent().work(sandbox);
    expect(agent.run(repository, 'resume', id).stdout).toBe(started(sandbox, `--resume ${ID}`));
    const forked = agent.run(repository, 'session', 'fork', id, '--id', 'f1', '--at', 'second', '--resume');
    const fork = sandbox.replace(id, 'f1');
    const copy = idIn(forked);
    expect(forked.stdout).toContain(started(fork, `--resume ${copy}`));
    expect(readFileSync(join(fork, 'file'), 'utf8')).toBe('first\n');
    const text = agent.transcript(fork, copy);
    expect(text).toContain(`done first in ${fork}/file`);
    expect(text).not.toMatch(/second|sessions\/s1\//);
    expect(agent.transcripts(sandbox)).toEqual([`${ID}.jsonl`]);
    // It ends where the fork began.
    const later = agent.run(fork, 'resume');
    expect(later.stdout).toContain(started(fork, `--resume ${idIn(later)}`));
    expect(agent.transcript(fork, idIn(later))).toBe(text.replaceAll(copy, idIn(later)));
  });

  it('says so if there is no conversation, or the agent cannot be cut', () => {
    const folder = makeRepository();
    agtOk(folder, 'snapshot');
    expect(new Agent().run(folder, 'resume')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^error: no snapshot of "project" names a conversation/),
    });
    const gemini = new Agent('gemini').work(folder);
    expect(gemini.run(folder, 'resume').stdout).toBe(started(folder, `--resume ${ID}`));
    const cut = gemini.run(folder, 'resume', '--at', 'second');
    expect([cut.exitCode, cut.stdout, cut.stderr]).toEqual([
      2,
      '',
      'error: agt cannot cut or move conversations of Gemini CLI\nhint: to resume all of it: --whole\n',
    ]);
    expect(gemini.run(folder, 'resume', '--at', 'second', '--whole').stdout).toBe(
      started(folder, `--resume ${ID}`),
    );
  });
});
