/** Lives with even seeds (lives.ts). */
import { testLives } from './lives.ts';

testLives('even');
