// Parsing needs many times the size of the text.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  const text = '['.repeat(5_000_000) + ']'.repeat(5_000_000);
  JSON.parse(text);
  JSON.parse('[' + '{},'.repeat(20_000_000) + '0]');
});
