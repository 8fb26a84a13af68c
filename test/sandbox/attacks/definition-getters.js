// A definition that loops when it is read.
import { attack } from './support/attack.js';

const plugin = attack(() => {});
export default Object.defineProperty({ ...plugin }, 'on', {
  get() {
    for (;;);
  },
});
