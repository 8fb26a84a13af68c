// Program of a separate process with a `JailOrder` as its last argument: drops every right that the sidecar does not need, then
// replaces itself with Node. The sequence matters: capabilities, no_new_privs, Landlock, limits, then seccomp, which refuses the
// calls of the earlier steps. The core caps the memory from outside once Node runs, because Bun does not fit under the cap, and
// decides whether the applied parts suffice. Exits with 90 and a message on stderr if a mandatory step fails.
import { ptr } from 'bun:ffi';
import type { EntryReport } from '../protocol.ts';
import { dropCapabilities } from './capabilities.ts';
import { landlockAbi, restrictPaths } from './landlock.ts';
import { openLibC } from './libc.ts';
import type { LibC } from './libc.ts';
import { seccompProgram, syscallRules } from './seccomp.ts';

export interface JailOrder {
  /** Path of the file that is executed. */
  program: string;
  /** Arguments including argv[0]; an argument `{jail}` is replaced with the `EntryReport` as JSON. */
  command: string[];
  readable: string[];
  /** Descriptors that the program inherits; Bun marks all descriptors above 3 as close-on-exec. */
  inherited: number[];
  /** True if the files of the program are unreadable without capabilities. */
  retainCapabilities: boolean;
  /** True to schedule the program only on an otherwise idle CPU. */
  idle: boolean;
}

const PR_SET_PDEATHSIG = 1;
const PR_SET_DUMPABLE = 4;
const PR_SET_SECCOMP = 22;
const PR_SET_TIMERSLACK = 29;
const PR_SET_NO_NEW_PRIVS = 38;
const SCHED_IDLE = 5;
const SIGKILL = 9n;
const SECCOMP_MODE_FILTER = 2n;
const F_SETFD = 2;
const RLIMIT_FSIZE = 1;
const RLIMIT_STACK = 3;
const RLIMIT_CORE = 4;
const RLIMIT_NOFILE = 7;
/** Per thread: at the default of 8 MB, the threads of the isolates alone would reach the memory limit. */
const stackBytes = 2 * 1024 * 1024;
/** isolated-vm sets a timer for each entry on the main thread; with this slack, one wake handles many of them. */
const timerSlackNs = 2_000_000n;
const libraryPaths = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/etc/ld.so.cache', '/dev/urandom'];
const loaderPaths = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1'];
const nodeEnvironment = ['OPENSSL_CONF=/dev/null', 'TZ=UTC'];

function enterJail(order: JailOrder): never {
  const libc = openLibC();
  // The sidecar must not outlive a core that was killed with SIGKILL.
  libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0n, 0n, 0n);
  libc.prctl(PR_SET_DUMPABLE, 0n, 0n, 0n, 0n);
  libc.prctl(PR_SET_TIMERSLACK, timerSlackNs, 0n, 0n, 0n);
  // If the kernel refuses, the niceness set by the core stays in effect.
  if (order.idle) libc.sched_setscheduler(0, SCHED_IDLE, ptr(new Int32Array([0])));
  if (!order.retainCapabilities) dropCapabilities(libc);
  if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1n, 0n, 0n, 0n) !== 0)
    fail(
      'The kernel refused no_new_privs. Allow the call prctl, or start the server with --sandbox-jail off.',
    );
  const landlock = applyLandlock(libc, order.program, order.readable);
  const rlimits = applyLimits(libc);
  for (const descriptor of order.inherited) libc.fcntl(descriptor, F_SETFD, 0);
  const report: EntryReport = { landlock, rlimits, seccomp: applySeccomp(libc) };
  const command = order.command.map((part) => (part === '{jail}' ? JSON.stringify(report) : part));
  replaceProcess(libc, order.program, command);
  return fail(`${command[0]} cannot be executed. Make it executable for the user of the server.`);
}

function applyLandlock(libc: LibC, program: string, readable: string[]): number {
  const abi = landlockAbi(libc);
  if (abi === 0) return 0;
  try {
    restrictPaths(libc, abi, {
      readable: [...libraryPaths, ...readable],
      executable: [program, ...loaderPaths],
      writable: ['/dev/null'],
    });
    return abi;
  } catch (error) {
    console.error(`${String(error)} The sidecar runs without Landlock.`);
    return 0;
  }
}

function applySeccomp(libc: LibC): boolean {
  const rules = syscallRules(process.arch, process.pid);
  if (!rules) return false;
  const program = seccompProgram(rules);
  const header = new BigUint64Array([BigInt(program.byteLength / 8), BigInt(ptr(program))]);
  return libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, BigInt(ptr(header)), 0n, 0n) === 0;
}

function applyLimits(libc: LibC): boolean {
  const limits: [resource: number, most: number][] = [
    [RLIMIT_CORE, 0],
    [RLIMIT_FSIZE, 0],
    [RLIMIT_NOFILE, 256],
    [RLIMIT_STACK, stackBytes],
  ];
  return limits.every(([resource, most]) => {
    const pair = new BigUint64Array([BigInt(most), BigInt(most)]);
    return libc.setrlimit(resource, ptr(pair)) === 0;
  });
}

function replaceProcess(libc: LibC, program: string, command: string[]): void {
  const retained: Uint8Array[] = [];
  const text = (value: string): bigint => {
    const bytes = Buffer.from(`${value}\0`);
    retained.push(bytes);
    return BigInt(ptr(bytes));
  };
  const path = Buffer.from(`${program}\0`);
  const args = new BigUint64Array([...command.map(text), 0n]);
  const environment = new BigUint64Array([...nodeEnvironment.map(text), 0n]);
  libc.execve(ptr(path), ptr(args), ptr(environment));
}

function fail(message: string): never {
  console.error(message);
  process.exit(90);
}

enterJail(JSON.parse(process.argv.at(-1) ?? '{}') as JailOrder);
