// Builds the seccomp filter, a classic BPF program over `struct seccomp_data` (Linux,
// Documentation/userspace-api/seccomp_filter.rst).
import { ENOSYS, EPERM } from './syscalls.ts';
import type { AllowedCall, SyscallCondition, SyscallRules } from './syscalls.ts';

const load = 0x20; // BPF_LD | BPF_W | BPF_ABS
const jumpEqual = 0x15;
const jumpAtLeast = 0x35;
const jumpAnyBit = 0x45;
const ret = 0x06;

const allowCall = 0x7fff0000;
const killProcess = 0x80000000;
const refuseWith = (errno: number): number => 0x00050000 | errno;

const offsetNumber = 0;
const offsetArch = 4;
const offsetArguments = 16;
/** First call number that all architectures share (Linux 5.1, 2019). Libraries use older calls on ENOSYS. */
const youngNumbers = 424;

type Instruction = [code: number, whenTrue: number, whenFalse: number, value: number];

/** Returns the bytes of the program, 8 per instruction. The program refuses every call that no rule names. */
export function seccompProgram(rules: SyscallRules): Uint8Array {
  const program: Instruction[] = [
    [load, 0, 0, offsetArch],
    [jumpEqual, 1, 0, rules.auditArch],
    [ret, 0, 0, killProcess],
    [load, 0, 0, offsetNumber],
  ];
  if (rules.aliasBit !== undefined)
    program.push([jumpAtLeast, 0, 1, rules.aliasBit], [ret, 0, 0, refuseWith(EPERM)]);
  for (const call of rules.allowed) program.push(...ruleOf(call));
  program.push(
    [jumpAtLeast, 0, 1, youngNumbers],
    [ret, 0, 0, refuseWith(ENOSYS)],
    [ret, 0, 0, refuseWith(EPERM)],
  );
  return encode(program);
}

/** Returns instructions that decide the call, or fall through to the next rule with the call number still loaded. */
function ruleOf({ number, when, otherwise }: AllowedCall): Instruction[] {
  const body: Instruction[] = [...when.flatMap(alternative), [ret, 0, 0, refuseWith(otherwise)]];
  return [[jumpEqual, 0, body.length, number], ...body];
}

/** Returns instructions that allow the call if all conditions hold, and otherwise fall through. */
function alternative(conditions: readonly SyscallCondition[]): Instruction[] {
  let tail: Instruction[] = [[ret, 0, 0, allowCall]];
  for (const condition of [...conditions].reverse()) tail = [...testOf(condition, tail.length), ...tail];
  return tail;
}

/** Returns instructions that skip `miss` further instructions unless the condition holds. */
function testOf(condition: SyscallCondition, miss: number): Instruction[] {
  const low = offsetArguments + 8 * condition.argument;
  if ('isNull' in condition)
    return [
      [load, 0, 0, low],
      [jumpEqual, 0, miss + 2, 0],
      [load, 0, 0, low + 4],
      [jumpEqual, 0, miss, 0],
    ];
  if ('without' in condition)
    return [
      [load, 0, 0, low],
      [jumpAnyBit, miss, 0, condition.without],
    ];
  const { oneOf } = condition;
  return [
    [load, 0, 0, low],
    ...oneOf.map((value, index): Instruction => {
      const left = oneOf.length - 1 - index;
      return [jumpEqual, left, left === 0 ? miss : 0, value];
    }),
  ];
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
