/** autocommit, restore and undo, killed between every two steps. */
import { killAtEveryStep } from './every-step.ts';
import { SCENES } from './scenes.ts';

killAtEveryStep(SCENES.filter(({ name }) => /autocommit|restore|undo/.test(name)));
