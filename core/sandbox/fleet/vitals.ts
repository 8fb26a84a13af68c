// A process as its kernel describes it in `/proc/<pid>/status` (Linux, proc_pid_status(5)), read again and again over
// one descriptor.
import { closeSync, openSync, readSync } from 'node:fs';

export interface Vitals {
  /** Resident and swapped memory. */
  rssBytes: number;
  pageTableBytes: number;
  threads: number;
}

const textBytesMax = 8192;
const kib = 1024;

export class ProcessStatus {
  #fd: number | undefined;
  #buffer = Buffer.alloc(textBytesMax);

  /** @param pid of a live process; elsewhere than on Linux there is nothing to read */
  constructor(pid: number) {
    try {
      this.#fd = openSync(`/proc/${pid}/status`, 'r');
    } catch {
      this.#fd = undefined;
    }
  }

  /** All zero once the process is gone. */
  vitals(): Vitals {
    const text = this.#read();
    return {
      rssBytes: (numberOf(text, 'VmRSS') + numberOf(text, 'VmSwap')) * kib,
      pageTableBytes: numberOf(text, 'VmPTE') * kib,
      threads: numberOf(text, 'Threads'),
    };
  }

  /** `powerless`: it holds no capability and can gain none; `filtered`: a seccomp filter stands before its system calls. */
  confinement(): { powerless: boolean; filtered: boolean } {
    const text = this.#read();
    const sets = ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].map((set) => valueOf(text, set));
    return {
      powerless: sets.every((set) => /^0+$/.test(set)) && valueOf(text, 'NoNewPrivs') === '1',
      filtered: valueOf(text, 'Seccomp') === '2',
    };
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #read(): string {
    if (this.#fd === undefined) return '';
    try {
      return this.#buffer.toString('latin1', 0, readSync(this.#fd, this.#buffer, 0, textBytesMax, 0));
    } catch {
      return '';
    }
  }
}

function valueOf(text: string, key: string): string {
  const at = text.indexOf(`\n${key}:`);
  return at < 0 ? '' : text.slice(at + key.length + 2, text.indexOf('\n', at + 1)).trim();
}

function numberOf(text: string, key: string): number {
  return Number.parseInt(valueOf(text, key), 10) || 0;
}
