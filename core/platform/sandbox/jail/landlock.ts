// Restricts this process to reading and executing the named paths with Landlock (Linux,
// Documentation/userspace-api/landlock.rst).
import { statSync } from 'node:fs';
import { ptr } from 'bun:ffi';
import type { LibC } from './libc.ts';

const createRulesetCall = 444n;
const addRuleCall = 445n;
const restrictSelfCall = 446n;
const versionFlag = 1n;
const rulePathBeneath = 1n;

const executeFile = 1n << 0n;
const writeFile = 1n << 1n;
const readFile = 1n << 2n;
const readDir = 1n << 3n;
/** Number of file rights per ABI version: 13 in version 1, then REFER, TRUNCATE and IOCTL_DEV were added. */
const fsBits: Record<number, number> = { 1: 13, 2: 14, 3: 15, 4: 15 };
const fsBitsSince5 = 16;
const netBindAndConnect = 3n;
const scopeSocketsAndSignals = 3n;
const O_PATH_CLOEXEC = 0x280000;

export interface PathRules {
  readable: string[];
  executable: string[];
  writable: string[];
}

/** Returns the Landlock ABI version of the kernel, 0 without Landlock. */
export function landlockAbi(libc: LibC): number {
  return Math.max(0, Number(libc.syscall(createRulesetCall, 0n, 0n, versionFlag, 0n, 0n, 0n)));
}

/** @throws Error that names the step refused by the kernel */
export function restrictPaths(libc: LibC, abi: number, rules: PathRules): void {
  const handled = (1n << BigInt(fsBits[abi] ?? fsBitsSince5)) - 1n;
  const attribute = new BigUint64Array([
    handled,
    abi >= 4 ? netBindAndConnect : 0n,
    abi >= 6 ? scopeSocketsAndSignals : 0n,
  ]);
  const size = abi >= 6 ? 24n : abi >= 4 ? 16n : 8n;
  const ruleset = libc.syscall(createRulesetCall, BigInt(ptr(attribute)), size, 0n, 0n, 0n, 0n);
  if (ruleset < 0n) throw new Error('The kernel refused landlock_create_ruleset.');
  for (const path of rules.readable) allow(libc, ruleset, path, readFile | readDir);
  for (const path of rules.executable) allow(libc, ruleset, path, readFile | executeFile);
  for (const path of rules.writable) allow(libc, ruleset, path, readFile | writeFile);
  if (libc.syscall(restrictSelfCall, ruleset, 0n, 0n, 0n, 0n, 0n) !== 0n)
    throw new Error('The kernel refused landlock_restrict_self.');
}

/** Skips a path that does not exist. */
function allow(libc: LibC, ruleset: bigint, path: string, access: bigint): void {
  const fd = libc.open(Buffer.from(`${path}\0`), O_PATH_CLOEXEC, 0);
  if (fd < 0) return;
  const rule = new Uint8Array(12);
  const view = new DataView(rule.buffer);
  view.setBigUint64(0, isDirectory(path) ? access : access & ~readDir, true);
  view.setInt32(8, fd, true);
  const result = libc.syscall(addRuleCall, ruleset, rulePathBeneath, BigInt(ptr(rule)), 0n, 0n, 0n);
  libc.close(fd);
  if (result !== 0n) throw new Error(`The kernel refused landlock_add_rule for ${path}.`);
}

function isDirectory(path: string): boolean {
  return statSync(path).isDirectory();
}
