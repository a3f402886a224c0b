/** Lives with odd seeds (lives.ts). */
import { testLives } from './lives.ts';

testLives('odd');
