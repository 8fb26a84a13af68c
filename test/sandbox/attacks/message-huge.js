// An error message of sixteen megabytes.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  throw new Error('x'.repeat(16 << 20));
});
