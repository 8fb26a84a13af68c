// Backtracking at one position.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  /(?:a|aa)+$/y.exec('a'.repeat(60) + 'b');
});
