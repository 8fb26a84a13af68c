// Registers a handler that its manifest does not declare.
import { attack } from './support/attack.js';

const plugin = attack(() => {});
plugin.schedules = { hidden: { cron: '* * * * *', handle() {} } };
export default plugin;
