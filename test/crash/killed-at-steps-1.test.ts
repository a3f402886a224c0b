/** session new, fork and remove, and gc, killed between every two steps. */
import { killAtEveryStep } from './every-step.ts';
import { SCENES } from './scenes.ts';

killAtEveryStep(SCENES.filter(({ name }) => !/autocommit|restore|undo/.test(name)));
