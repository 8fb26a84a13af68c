// An array-like of four billion.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  Array.prototype.toReversed.call({ length: 2 ** 32 - 1 });
});
