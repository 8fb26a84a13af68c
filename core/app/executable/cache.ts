// Private cache directory for the embedded files that must exist on disk to run: Node and two native addons. They are executed with
// all rights of the server, so the directory is trusted only if no other user can have written to it. File names contain the hash
// of the content, so versions do not conflict and no file is written twice.
import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { spawnSync } from 'node:child_process';

export interface Packed {
  readonly name: string;
  /** Path of the zstd-compressed file. */
  readonly file: string;
  /** Size and hash of the unpacked file. */
  readonly bytes: number;
  readonly sha256: string;
  readonly isProgram: boolean;
}

interface Cache {
  /**
   * Returns the path of the file, and unpacks it if it is missing or incomplete.
   * @param prove checks a file that was just unpacked, and throws if it does not run
   */
  unpack(packed: Packed, prove?: (path: string) => void): string;
  /**
   * Returns the path as `unpack` does, and checks the hash.
   * @throws Error if the file was changed since it was unpacked
   */
  verify(packed: Packed, prove?: (path: string) => void): string;
}

const groupAndOthersWrite = 0o022;
const another = 'Name another directory with TATAMI_CACHE_DIR.';
/** Age from which a temporary file counts as left over by a killed process. Unpacking takes about a second. */
const leftOverMs = 3_600_000;

/** @throws Error if the directory cannot be created or another user may write to it */
export function openCache(dir: string): Cache {
  const user = process.geteuid?.() ?? 0;
  // A server that runs as root starts each sidecar as another user, who must be able to read the files.
  const readable = user === 0 ? 0o055 : 0;
  makeDir(dir, 0o700 | readable);
  checkDir(dir, user);

  const isWhole = (path: string, bytes: number): boolean => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats?.isFile() === true && isOurs(stats, user) && stats.size === bytes;
  };
  const unpack: Cache['unpack'] = (packed, prove) => {
    const path = join(dir, `${packed.name}-${packed.sha256.slice(0, 32)}`);
    if (isWhole(path, packed.bytes)) return path;
    const mode = packed.isProgram ? 0o500 | readable : 0o400 | (readable & 0o044);
    installFile(path, contentOf(packed), mode, prove);
    removeLeftOvers(dir, lstatSync(path).mtimeMs);
    return path;
  };
  return {
    unpack,
    verify(packed, prove) {
      const path = unpack(packed, prove);
      if (sha256Of(readFileSync(path)) === packed.sha256) return path;
      throw new Error(
        `${path} was changed after it was unpacked. Remove it; the next start unpacks it again.`,
      );
    },
  };
}

function contentOf({ name, file, sha256 }: Packed): Uint8Array {
  const content = Bun.zstdDecompressSync(readFileSync(file));
  if (sha256Of(content) === sha256) return content;
  throw new Error(`${process.execPath} is damaged: ${name} has a wrong hash. Install it again.`);
}

/**
 * Installs a file. Two processes may do so at the same time, because both write the same content and the
 * rename is atomic.
 */
function installFile(path: string, content: Uint8Array, mode: number, prove?: (path: string) => void): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeWhole(temporary, content, mode);
    prove?.(temporary);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw withRemedy(error, dirname(path));
  }
}

const sha256Of = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

function makeDir(dir: string, mode: number): void {
  try {
    if (mkdirSync(dir, { recursive: true, mode }) !== undefined) chmodSync(dir, mode);
  } catch (error) {
    throw withRemedy(error, dir);
  }
}

function checkDir(dir: string, user: number): void {
  const stats = lstatSync(dir);
  if (!stats.isDirectory()) throw new Error(`${dir} is not a directory. ${another}`);
  if (!isOurs(stats, user))
    throw new Error(
      `${dir} belongs to another user or may be written by others, but its files are executed. ${another}`,
    );
}

function isOurs({ uid, mode }: Stats, user: number): boolean {
  return uid === user && (mode & groupAndOthersWrite) === 0;
}

function writeWhole(path: string, content: Uint8Array, mode: number): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(fd, content);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  chmodSync(path, mode);
}

function removeLeftOvers(dir: string, nowMs: number): void {
  for (const name of readdirSync(dir).filter((entry) => entry.endsWith('.tmp'))) {
    const path = join(dir, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats && nowMs - stats.mtimeMs > leftOverMs) rmSync(path, { force: true });
  }
}

/** Adds a remedy to a system error. */
function withRemedy(error: unknown, dir: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const spaceHint = 'code' in error && error.code === 'ENOSPC' ? ' 120 MB are needed.' : '';
  return new Error(
    `Cannot unpack Node and native addons to ${dir}: ${error.message}.${spaceHint} ${another}`,
    {
      cause: error,
    },
  );
}

const load =
  'try { process.dlopen({ exports: {} }, process.argv[1]); } catch (error) { process._rawDebug(error.message); process.exit(1); }';

/**
 * Checks that the unpacked Node runs on this machine and loads isolated-vm. It runs once after unpacking; otherwise the
 * first plugin would fail.
 * @param addonPath path of isolated-vm's addon
 * @throws Error naming what the machine lacks
 */
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
