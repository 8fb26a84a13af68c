// Growable shared memory escapes the accounting.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  const buffer = new SharedArrayBuffer(8, { maxByteLength: 1 << 30 });
  buffer.grow(1 << 30);
  new Uint8Array(buffer).fill(1);
});
