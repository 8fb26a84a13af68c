// A built-in that cannot be interrupted.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);
});
