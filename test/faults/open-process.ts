// Opens a data directory and closes it again. Argument: the directory.
import { openStore } from '../../core/platform/store/open-store.ts';

await openStore(process.argv[2] ?? '', Date.now).close();
