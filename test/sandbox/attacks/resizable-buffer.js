// Resizable memory escapes the accounting.
import { attack } from './support/attack.js';

export default attack(async (event, ctx) => {
  const all = [];
  for (;;) {
    const buffer = new ArrayBuffer(8, { maxByteLength: 1 << 28 });
    buffer.resize(1 << 28);
    all.push(new Uint8Array(buffer).fill(1));
  }
});
