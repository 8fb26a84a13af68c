// Allocates while the module is evaluated.
import { attack } from './support/attack.js';

const all = [];
for (;;) all.push(new Array(10_000).fill(1.5));
export default attack(() => all);
