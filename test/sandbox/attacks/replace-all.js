// A built-in that expands.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  'a'.repeat(1 << 24).replaceAll('a', 'b'.repeat(64)).length;
});
