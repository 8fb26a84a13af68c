// A power of a large base.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  (3n ** 400_000_000n).toString().length;
});
