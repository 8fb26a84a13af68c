// Whether the Node that was just unpacked runs here. Asked once for each machine, because the first plugin would else be where it shows.
import { spawnSync } from 'node:child_process';

/** @throws Error saying what the machine lacks */
export function proveNodeRuns(path: string): void {
  const { error, status, stderr } = spawnSync(path, ['--version'], { env: {}, encoding: 'utf8' });
  if (status === 0) return;
  if (error !== undefined && 'code' in error && error.code === 'EACCES')
    throw new Error(
      `${path} may not be executed: its file system is probably mounted noexec. Name a directory on another one with TATAMI_CACHE_DIR.`,
      { cause: error },
    );
  const said = error?.message ?? stderr.trim();
  throw new Error(`Node, which runs plugins, does not run here: ${said}. It needs glibc and libstdc++6.`);
}
