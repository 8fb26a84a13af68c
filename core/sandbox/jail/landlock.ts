/** Landlock (Linux, Documentation/userspace-api/landlock.rst): this process may read the named paths and execute the named files, nothing else. */
import { statSync } from 'node:fs';
import { ptr } from 'bun:ffi';
import type { LibC } from './libc.ts';

const CREATE_RULESET = 444n;
const ADD_RULE = 445n;
const RESTRICT_SELF = 446n;
const VERSION_FLAG = 1n;
const RULE_PATH_BENEATH = 1n;

const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
/** Rights on files by the ABI version that brought them: 13 at first, then REFER, TRUNCATE, IOCTL_DEV. */
const FS_BITS: Record<number, number> = { 1: 13, 2: 14, 3: 15, 4: 15 };
const FS_BITS_SINCE_5 = 16;
const NET_BIND_AND_CONNECT = 3n;
const SCOPE_SOCKETS_AND_SIGNALS = 3n;
const O_PATH_CLOEXEC = 0x280000;

export interface PathRules {
  readable: string[];
  executable: string[];
  writable: string[];
}

/** The kernel's ABI version, 0 without Landlock. */
export function landlockAbi(libc: LibC): number {
  return Math.max(0, Number(libc.syscall(CREATE_RULESET, 0n, 0n, VERSION_FLAG, 0n, 0n, 0n)));
}

/** @throws Error naming the step the kernel refused */
export function restrictPaths(libc: LibC, abi: number, rules: PathRules): void {
  const handled = (1n << BigInt(FS_BITS[abi] ?? FS_BITS_SINCE_5)) - 1n;
  const attribute = new BigUint64Array([
    handled,
    abi >= 4 ? NET_BIND_AND_CONNECT : 0n,
    abi >= 6 ? SCOPE_SOCKETS_AND_SIGNALS : 0n,
  ]);
  const size = abi >= 6 ? 24n : abi >= 4 ? 16n : 8n;
  const ruleset = libc.syscall(CREATE_RULESET, BigInt(ptr(attribute)), size, 0n, 0n, 0n, 0n);
  if (ruleset < 0n) throw new Error('landlock_create_ruleset was refused.');
  for (const path of rules.readable) allow(libc, ruleset, path, READ_FILE | READ_DIR);
  for (const path of rules.executable) allow(libc, ruleset, path, READ_FILE | EXECUTE);
  for (const path of rules.writable) allow(libc, ruleset, path, READ_FILE | WRITE_FILE);
  if (libc.syscall(RESTRICT_SELF, ruleset, 0n, 0n, 0n, 0n, 0n) !== 0n)
    throw new Error('landlock_restrict_self was refused.');
}

/** A path that does not exist needs no permission. */
function allow(libc: LibC, ruleset: bigint, path: string, access: bigint): void {
  const fd = libc.open(Buffer.from(`${path}\0`), O_PATH_CLOEXEC, 0);
  if (fd < 0) return;
  const rule = new Uint8Array(12);
  const view = new DataView(rule.buffer);
  view.setBigUint64(0, isDirectory(path) ? access : access & ~READ_DIR, true);
  view.setInt32(8, fd, true);
  const result = libc.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, BigInt(ptr(rule)), 0n, 0n, 0n);
  libc.close(fd);
  if (result !== 0n) throw new Error(`landlock_add_rule was refused for ${path}.`);
}

function isDirectory(path: string): boolean {
  return statSync(path).isDirectory();
}
