// Rotates the master key of a data directory. Arguments: the directory, the milliseconds of the clock.
import { rotateMasterKey } from '../../core/app/setup/rotate-master-key.ts';

const [dataDir = '', nowMs = ''] = process.argv.slice(2);
await rotateMasterKey(dataDir, () => Number(nowMs));
