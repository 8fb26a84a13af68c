// Parsing digits is quadratic.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  BigInt('7'.repeat(100_000_000));
});
