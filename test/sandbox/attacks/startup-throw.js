// Fails while the module is evaluated.
import { attack } from './support/attack.js';

if (Date.now() >= 0) throw new Error('not today');
export default attack(() => {});
