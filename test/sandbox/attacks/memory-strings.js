// A flattened rope string.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  let text = 'x'.repeat(1 << 20);
  const all = [];
  for (;;) {
    text += text.slice(1);
    all.push(text.charCodeAt(text.length >> 1), text + all.length);
  }
});
