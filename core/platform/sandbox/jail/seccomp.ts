// Seccomp filter of a sidecar. It allows the system calls, with the arguments, that Node, V8, libuv,
// isolated-vm and the C library were observed to make at start, at work, on many threads and while aborting,
// and refuses everything else.

/** Condition on one argument. Only the lower 32 bits are compared, as the kernel reads flags, commands and process ids. */
type SyscallCondition =
  | { argument: number; oneOf: readonly number[] }
  | { argument: number; without: number }
  | { argument: number; isNull: true };

/** The call is allowed if all conditions of one alternative hold. */
type Alternatives = readonly (readonly SyscallCondition[])[];

interface AllowedCall {
  number: number;
  when: Alternatives;
  /** The errno if no alternative matches. */
  otherwise: number;
}

interface SyscallRules {
  /** AUDIT_ARCH_… constant of the architecture. */
  auditArch: number;
  /** Numbers from here on belong to the x32 ABI, which aliases the whole table. */
  aliasBit: number | undefined;
  allowed: AllowedCall[];
}

const EPERM = 1;
const ENOSYS = 38;

const O_ASYNC = 0x2000;
const PROT_WRITE = 2;
const PROT_EXEC = 4;
const MAP_ANONYMOUS = 0x20;
/** Flags that pthread_create passes to clone, in glibc and in musl. */
const threadFlags = [0x3d0f00, 0x7d0f00];
const F_GETFD = 1;
const F_SETFD = 2;
const F_GETFL = 3;
const F_SETFL = 4;
const F_DUPFD_CLOEXEC = 1030;
const TCGETS = 0x5401;
const FIONBIO = 0x5421;
const FIOCLEX = 0x5451;
const PR_SET_NAME = 15;
const PR_GET_NAME = 16;
const PR_SET_VMA = 0x53564d41;
const ARCH_SET_FS = 0x1002;

const always: Alternatives = [[]];

/**
 * `[x86-64, arm64]`, from asm/unistd.h and asm-generic/unistd.h; null where the architecture has no such
 * call.
 */
type Numbers = readonly [number | null, number | null];

/** Calls allowed with any arguments. Landlock restricts files; the only sockets are inherited ones. */
const plainCalls: Record<string, Numbers> = {
  futex: [202, 98],
  read: [0, 63],
  write: [1, 64],
  epoll_pwait: [281, 22],
  epoll_wait: [232, null],
  madvise: [28, 233],
  clock_gettime: [228, 113],
  clock_nanosleep: [230, 115],
  munmap: [11, 215],
  rt_sigprocmask: [14, 135],
  rt_sigaction: [13, 134],
  rt_sigreturn: [15, 139],
  sigaltstack: [131, 132],
  restart_syscall: [219, 128],
  brk: [12, 214],
  mremap: [25, 216],
  membarrier: [324, 283],
  sched_yield: [24, 124],
  getpid: [39, 172],
  gettid: [186, 178],
  getppid: [110, 173],
  getuid: [102, 174],
  geteuid: [107, 175],
  getgid: [104, 176],
  getegid: [108, 177],
  set_tid_address: [218, 96],
  set_robust_list: [273, 99],
  rseq: [334, 293],
  exit: [60, 93],
  exit_group: [231, 94],
  readv: [19, 65],
  writev: [20, 66],
  pread64: [17, 67],
  lseek: [8, 62],
  close: [3, 57],
  dup: [32, 23],
  dup2: [33, null],
  dup3: [292, 24],
  open: [2, null],
  openat: [257, 56],
  stat: [4, null],
  lstat: [6, null],
  fstat: [5, 80],
  newfstatat: [262, 79],
  statx: [332, 291],
  access: [21, null],
  faccessat: [269, 48],
  faccessat2: [439, 439],
  readlink: [89, null],
  readlinkat: [267, 78],
  getcwd: [79, 17],
  epoll_create1: [291, 20],
  epoll_ctl: [233, 21],
  eventfd2: [290, 19],
  pipe2: [293, 59],
  poll: [7, null],
  ppoll: [271, 73],
  getsockname: [51, 204],
  getsockopt: [55, 209],
  shutdown: [48, 210],
  nanosleep: [35, 101],
  clock_getres: [229, 114],
  gettimeofday: [96, 169],
  time: [201, null],
  getrusage: [98, 165],
  getrlimit: [97, 163],
  getcpu: [309, 168],
  getrandom: [318, 278],
  uname: [63, 160],
  sysinfo: [99, 179],
  // The jail's entry replaces itself with Node; Landlock restricts which files may be executed.
  execve: [59, 221],
};

/** @param pid process id of the sidecar in its own PID namespace */
function guarded(pid: number): [numbers: Numbers, when: Alternatives, otherwise?: number][] {
  return [
    // No memory is both writable and executable, and executable memory maps a file: an attacker cannot inject code.
    [
      [9, 222], // mmap
      [
        [{ argument: 2, without: PROT_EXEC }],
        [
          { argument: 2, without: PROT_WRITE },
          { argument: 3, without: MAP_ANONYMOUS },
        ],
      ],
    ],
    [[10, 226], [[{ argument: 2, without: PROT_EXEC }]]], // mprotect
    // glibc falls back to clone if clone3 is missing. A filter cannot read the flags of clone3, which are behind a pointer.
    [[435, 435], [], ENOSYS],
    [[56, 220], [[{ argument: 0, oneOf: threadFlags }]]], // clone
    [[62, 129], [[{ argument: 0, oneOf: [pid] }]]], // kill
    [[234, 131], [[{ argument: 0, oneOf: [pid] }]]], // tgkill
    // Allows the process to read its own limits, but not to change limits.
    [
      [302, 261],
      [
        [
          { argument: 0, oneOf: [0] },
          { argument: 2, isNull: true },
        ],
      ],
    ], // prlimit64
    // glibc passes the id of a thread, which is refused, and works without the call.
    [[204, 123], [[{ argument: 0, oneOf: [0] }]], ENOSYS], // sched_getaffinity
    [
      [72, 25], // fcntl
      [
        [{ argument: 1, oneOf: [F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC] }],
        [
          { argument: 1, oneOf: [F_SETFL] },
          { argument: 2, without: O_ASYNC },
        ],
      ],
    ],
    [[16, 29], [[{ argument: 1, oneOf: [TCGETS, FIONBIO, FIOCLEX] }]]], // ioctl
    [[157, 167], [[{ argument: 0, oneOf: [PR_SET_NAME, PR_GET_NAME, PR_SET_VMA] }]]], // prctl
    [[158, null], [[{ argument: 0, oneOf: [ARCH_SET_FS] }]]], // arch_prctl
  ];
}

/** Returns undefined for an architecture whose call numbers are not listed here. */
export function syscallRules(arch: string, pid: number): SyscallRules | undefined {
  const column = arch === 'x64' ? 0 : arch === 'arm64' ? 1 : undefined;
  if (column === undefined) return undefined;
  const rows: [Numbers, Alternatives, number?][] = [
    ...Object.values(plainCalls).map((numbers): [Numbers, Alternatives] => [numbers, always]),
    ...guarded(pid),
  ];
  return {
    auditArch: column === 0 ? 0xc000003e : 0xc00000b7,
    aliasBit: column === 0 ? 0x40000000 : undefined,
    allowed: rows.flatMap(([numbers, when, otherwise = EPERM]) => {
      const number = numbers[column];
      return number === null ? [] : [{ number, when, otherwise }];
    }),
  };
}

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

/**
 * Returns the bytes of a classic BPF program over `struct seccomp_data` (Linux,
 * Documentation/userspace-api/seccomp_filter.rst), 8 per instruction. The program refuses every call that no
 * rule names.
 */
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
