/** Tells an agt that the guard starts that it is one: a wrong setting must not keep it from capturing. */

const VARIABLE = 'AGT_STARTED_BY_GUARD';

export function startedByGuard(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, [VARIABLE]: '1' };
}

export function isStartedByGuard(env: NodeJS.ProcessEnv): boolean {
  return env[VARIABLE] === '1';
}
