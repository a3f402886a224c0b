/** accept, unaccept, reject and sync, killed between every two steps. */
import { killAtEveryStep } from './every-step.ts';
import { LANDING_SCENES } from './landing-scenes.ts';

/** A removal and a restore have scenes of their own. */
killAtEveryStep(LANDING_SCENES, /^(landing|sync|metadata|worktree|remove: (work branch|moved|folder))/);
