// A second built-in that cannot be interrupted.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  Array.prototype.join.call({ length: 2 ** 32 - 2 }, '');
});
