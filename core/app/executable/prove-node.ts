// Checks that the unpacked Node runs on this machine and loads isolated-vm. It runs once after unpacking; otherwise
// the first plugin would fail. A file of its own, because the imports of embedded.ts exist only in the executable.
import { spawnSync } from 'node:child_process';

const load =
  'try { process.dlopen({ exports: {} }, process.argv[1]); } catch (error) { process._rawDebug(error.message); process.exit(1); }';

/** @param addonPath path of isolated-vm's addon. @throws Error naming what the machine lacks */
export function proveNodeRuns(path: string, addonPath: string): void {
  const options = { env: {}, encoding: 'utf8' } as const;
  const { error, status, signal, stderr } = spawnSync(
    path,
    ['--no-node-snapshot', '-e', load, addonPath],
    options,
  );
  if (status === 0) return;
  if (error !== undefined && 'code' in error && error.code === 'EACCES')
    throw new Error(
      `${path} may not be executed: its file system is probably mounted noexec. Name a directory on another one with TATAMI_CACHE_DIR.`,
      { cause: error },
    );
  const said = error?.message ?? (stderr.trim() || `it exits with ${status ?? signal}`);
  throw new Error(
    `Node, which runs plugins, does not run here: ${said}. It needs glibc 2.34 and the libstdc++6 of GCC 12 or later; set TATAMI_NODE to use another Node 24.`,
  );
}
