/**
 * System call numbers by architecture (Linux, asm/unistd.h and asm-generic/unistd.h). What a sidecar must never do: reach the network,
 * start or touch another process, change the mount table, or load kernel interfaces with a history of holes.
 */
export interface SyscallTable {
  /** AUDIT_ARCH_… of the filter. */
  auditArch: number;
  clone: number;
  clone3: number;
  /** kill and tgkill: allowed only towards the process itself. */
  selfSignals: number[];
  denied: Record<string, number[]>;
  /** Numbers at or above this are the x32 ABI, an alias of the whole table. */
  aliasBit: number | undefined;
}

const X64: SyscallTable = {
  auditArch: 0xc000003e,
  clone: 56,
  clone3: 435,
  selfSignals: [62, 234],
  denied: {
    'socket, connect, accept, bind, listen, socketpair, accept4': [41, 42, 43, 49, 50, 53, 288],
    'fork, vfork, execveat': [57, 58, 322],
    'ptrace, process_vm_readv, process_vm_writev, kcmp, process_madvise, process_mrelease': [
      101, 310, 311, 312, 440, 448,
    ],
    'tkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal, pidfd_open, pidfd_getfd': [
      200, 129, 297, 424, 434, 438,
    ],
    'mount, umount2, pivot_root, chroot, open_tree to fspick, mount_setattr': [
      165, 166, 155, 161, 428, 429, 430, 431, 432, 433, 442,
    ],
    'unshare, setns': [272, 308],
    'io_uring_setup, io_uring_enter, io_uring_register': [425, 426, 427],
    'bpf, perf_event_open, userfaultfd': [321, 298, 323],
    'add_key, request_key, keyctl': [248, 249, 250],
    'init_module, finit_module, delete_module, kexec_load, kexec_file_load, reboot, swapon, swapoff': [
      175, 313, 176, 246, 320, 169, 167, 168,
    ],
    'name_to_handle_at, open_by_handle_at, link, linkat, symlink, symlinkat, mknod, mknodat': [
      303, 304, 86, 265, 88, 266, 133, 259,
    ],
    'System V shared memory, semaphores and queues; POSIX queues': [
      29, 30, 31, 67, 64, 65, 66, 220, 68, 69, 70, 71, 240, 241,
    ],
    'setuid, setgid, setreuid, setregid, setgroups, setresuid, setresgid, capset': [
      105, 106, 113, 114, 116, 117, 119, 126,
    ],
    'sethostname, setdomainname, acct, quotactl, syslog, uselib, vhangup': [
      170, 171, 163, 179, 103, 134, 153,
    ],
    'adjtimex, settimeofday, clock_settime, clock_adjtime': [159, 164, 227, 305],
    'iopl, ioperm, inotify_init, inotify_init1, fanotify_init': [172, 173, 253, 294, 300],
  },
  aliasBit: 0x40000000,
};

const ARM64: SyscallTable = {
  auditArch: 0xc00000b7,
  clone: 220,
  clone3: 435,
  selfSignals: [129, 131],
  denied: {
    'socket, socketpair, bind, listen, accept, connect, accept4': [198, 199, 200, 201, 202, 203, 242],
    execveat: [281],
    'ptrace, process_vm_readv, process_vm_writev, kcmp, process_madvise, process_mrelease': [
      117, 270, 271, 272, 440, 448,
    ],
    'tkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal, pidfd_open, pidfd_getfd': [
      130, 138, 240, 424, 434, 438,
    ],
    'umount2, mount, pivot_root, chroot, open_tree to fspick, mount_setattr': [
      39, 40, 41, 51, 428, 429, 430, 431, 432, 433, 442,
    ],
    'unshare, setns': [97, 268],
    'io_uring_setup, io_uring_enter, io_uring_register': [425, 426, 427],
    'bpf, perf_event_open, userfaultfd': [280, 241, 282],
    'add_key, request_key, keyctl': [217, 218, 219],
    'init_module, finit_module, delete_module, kexec_load, kexec_file_load, reboot, swapon, swapoff': [
      105, 273, 106, 104, 294, 142, 224, 225,
    ],
    'name_to_handle_at, open_by_handle_at, linkat, symlinkat, mknodat': [264, 265, 37, 36, 33],
    'POSIX queues; System V queues, semaphores and shared memory': [
      180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 197,
    ],
    'setregid, setgid, setreuid, setuid, setresuid, setresgid, setgroups, capset': [
      143, 144, 145, 146, 147, 149, 159, 91,
    ],
    'sethostname, setdomainname, acct, quotactl, syslog, vhangup': [161, 162, 89, 60, 116, 58],
    'clock_settime, settimeofday, adjtimex, clock_adjtime': [112, 170, 171, 266],
    'inotify_init1, fanotify_init': [26, 262],
  },
  aliasBit: undefined,
};

export function syscallTable(arch: string): SyscallTable | undefined {
  return arch === 'x64' ? X64 : arch === 'arm64' ? ARM64 : undefined;
}
