// A quarter of a billion one-letter strings.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  'x'.repeat(1 << 28).split('');
});
