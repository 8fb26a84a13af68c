// Reads `/proc/<pid>/status` (Linux, proc_pid_status(5)) of a process repeatedly over one descriptor.
import { closeSync, openSync, readSync } from 'node:fs';

export interface Vitals {
  /** Resident and swapped memory. */
  rssBytes: number;
  pageTableBytes: number;
  threads: number;
}

const textBytesMax = 8192;
const kib = 1024;

export interface ProcessStatus {
  /** All zero after the exit of the process. */
  vitals(): Vitals;
  /** `powerless`: the process has no capabilities and can gain none; `filtered`: a seccomp filter applies. */
  confinement(): { powerless: boolean; filtered: boolean };
  close(): void;
}

/** @param pid process id of a live process; on other systems than Linux, all results are zero or false */
export function openProcessStatus(pid: number): ProcessStatus {
  const buffer = Buffer.alloc(textBytesMax);
  let fd = openedOrNone(`/proc/${pid}/status`);

  const read = (): string => {
    if (fd === undefined) return '';
    try {
      return buffer.toString('latin1', 0, readSync(fd, buffer, 0, textBytesMax, 0));
    } catch {
      return '';
    }
  };

  return {
    vitals() {
      const text = read();
      return {
        rssBytes: (numberOf(text, 'VmRSS') + numberOf(text, 'VmSwap')) * kib,
        pageTableBytes: numberOf(text, 'VmPTE') * kib,
        threads: numberOf(text, 'Threads'),
      };
    },
    confinement() {
      const text = read();
      const sets = ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].map((set) => valueOf(text, set));
      return {
        powerless: sets.every((set) => /^0+$/.test(set)) && valueOf(text, 'NoNewPrivs') === '1',
        filtered: valueOf(text, 'Seccomp') === '2',
      };
    },
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

function openedOrNone(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

function valueOf(text: string, key: string): string {
  const at = text.indexOf(`\n${key}:`);
  return at < 0 ? '' : text.slice(at + key.length + 2, text.indexOf('\n', at + 1)).trim();
}

function numberOf(text: string, key: string): number {
  return Number.parseInt(valueOf(text, key), 10) || 0;
}
