/** Builds the seccomp filter: a classic BPF program over `struct seccomp_data` (Linux, Documentation/userspace-api/seccomp_filter.rst). */
import type { SyscallTable } from './syscalls.ts';

const LOAD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const refuseWith = (errno: number): number => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;

const OFFSET_NUMBER = 0;
const OFFSET_ARCH = 4;
const OFFSET_FIRST_ARGUMENT = 16;
const CLONE_THREAD = 0x10000;

type Instruction = [code: number, whenTrue: number, whenFalse: number, value: number];

/** The program's bytes, 8 an instruction. Everything not named is allowed. */
export function seccompProgram(table: SyscallTable, pid: number): Uint8Array {
  const program: Instruction[] = [
    [LOAD, 0, 0, OFFSET_ARCH],
    [JUMP_EQUAL, 1, 0, table.auditArch],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, OFFSET_NUMBER],
  ];
  if (table.aliasBit !== undefined)
    program.push([JUMP_AT_LEAST, 0, 1, table.aliasBit], [RETURN, 0, 0, refuseWith(EPERM)]);
  // glibc falls back from clone3 to clone, whose flags a filter can read.
  program.push([JUMP_EQUAL, 0, 1, table.clone3], [RETURN, 0, 0, refuseWith(ENOSYS)]);
  for (const number of Object.values(table.denied).flat())
    program.push([JUMP_EQUAL, 0, 1, number], [RETURN, 0, 0, refuseWith(EPERM)]);
  const onlyWhen = (number: number, test: Instruction): void => {
    program.push(
      [JUMP_EQUAL, 0, 4, number],
      [LOAD, 0, 0, OFFSET_FIRST_ARGUMENT],
      test,
      [RETURN, 0, 0, refuseWith(EPERM)],
      [RETURN, 0, 0, ALLOW],
    );
  };
  onlyWhen(table.clone, [JUMP_ANY_BIT, 1, 0, CLONE_THREAD]);
  for (const number of table.selfSignals) onlyWhen(number, [JUMP_EQUAL, 1, 0, pid]);
  program.push([RETURN, 0, 0, ALLOW]);
  return encode(program);
}

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  program.forEach(([code, whenTrue, whenFalse, value], index) => {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, whenTrue);
    view.setUint8(index * 8 + 3, whenFalse);
    view.setUint32(index * 8 + 4, value >>> 0, true);
  });
  return bytes;
}
