// Records the log of the current stretch of code in memory that the sidecar can read after it ends the stretch from outside: the
// last log lines of a looping handler help its author. Only these functions can access the memory.
import { charCodeAt } from './harden.ts';

/** The first element is the number of code units that follow. */
let units: Uint16Array | undefined;

/** Must run before any plugin code. */
export function installRecorder(): void {
  const shared = Reflect.get(globalThis, 'tatamiRecorder') as ArrayBufferLike | undefined;
  Reflect.deleteProperty(globalThis, 'tatamiRecorder');
  if (shared) units = new Uint16Array(shared);
}

export function recordEntry(text: string): void {
  if (!units) return;
  const used = units[0] as number;
  const comma = used === 0 ? 0 : 1;
  // Uses a constant, because plugins can change the prototype that has the accessor of `units.length`.
  if (1 + used + comma + text.length > recorderUnits) return;
  if (comma === 1) units[1 + used] = commaCode;
  for (let i = 0; i < text.length; i++) units[1 + used + comma + i] = charCodeAt(text, i);
  units[0] = used + comma + text.length;
}

export function forgetEntries(): void {
  if (units) units[0] = 0;
}

const commaCode = 44;
/** Length in UTF-16 units: 16 KB of log with the JSON overhead. Entries that do not fit are dropped. */
export const recorderUnits = 24 * 1024;
