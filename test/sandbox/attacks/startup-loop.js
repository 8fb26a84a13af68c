// Loops while the module is evaluated.
import { attack } from './support/attack.js';

for (;;);
export default attack(() => {});
