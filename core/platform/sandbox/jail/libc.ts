// C library functions that the jail calls. All arguments of `syscall` are 64 bits wide, as the kernel reads them.
import { dlopen, FFIType } from 'bun:ffi';

const { i32, i64, ptr, u64 } = FFIType;

export function openLibC() {
  const { symbols } = dlopen('libc.so.6', {
    syscall: { args: [i64, i64, i64, i64, i64, i64, i64], returns: i64 },
    prctl: { args: [i32, u64, u64, u64, u64], returns: i32 },
    capset: { args: [ptr, ptr], returns: i32 },
    sched_setscheduler: { args: [i32, i32, ptr], returns: i32 },
    setrlimit: { args: [i32, ptr], returns: i32 },
    execve: { args: [ptr, ptr, ptr], returns: i32 },
    open: { args: [ptr, i32, i32], returns: i32 },
    fcntl: { args: [i32, i32, i32], returns: i32 },
    close: { args: [i32], returns: i32 },
  });
  return symbols;
}

export type LibC = ReturnType<typeof openLibC>;
