// Catastrophic backtracking.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  /^(a+)+$/.test('a'.repeat(40) + 'b');
});
