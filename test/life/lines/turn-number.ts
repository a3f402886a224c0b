import { agtOk } from '../../harness/world.ts';

/** agt counts turns by their first calls, and a life by its prompts. Undefined for one without a call. */
export function turnNumber(folder: string, prompt: number | string): string | undefined {
  const turns = JSON.parse(agtOk(folder, 'log', '--turns', '--json')) as { number: number; prompt: string }[];
  return turns.find((turn) => turn.prompt === `prompt ${prompt}`)?.number.toString();
}
