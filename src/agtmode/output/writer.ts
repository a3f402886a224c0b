/** Writes to a standard stream. If its reader has gone, as in `agt session log | head`, the command still does its work. */
import { errorCode } from '../../errors.ts';
import { once } from '../../once.ts';

export function writer(stream: () => NodeJS.WriteStream): (text: string) => void {
  let hasReader = true;
  const open = once(() =>
    stream().on('error', (error) => {
      if (errorCode(error) !== 'EPIPE') throw error;
      hasReader = false;
    }),
  );
  return (text) => {
    if (hasReader) open().write(text);
  };
}
