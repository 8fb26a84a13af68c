// Loads libsql's native addon from the cache directory; the build redirects libsql's own loader to this file. Bun would otherwise
// write the addon to the temporary folder at every start.
import { libsqlPath } from './embedded.ts';

interface Loaded {
  exports: unknown;
}

export function loadLibsql(): unknown {
  const path = libsqlPath();
  const loaded: Loaded = { exports: {} };
  try {
    process.dlopen(loaded, path);
  } catch (error) {
    throw new Error(
      `${path} cannot be loaded: ${error instanceof Error ? error.message : String(error)}. ` +
        'If its file system is mounted noexec, name a directory on another one with TATAMI_CACHE_DIR.',
      { cause: error },
    );
  }
  return loaded.exports;
}
