// The log of the present stretch of code, in memory that the sidecar can read when the stretch is ended from outside:
// what a looping handler said last is what its author needs. Nothing but these functions reaches it.
import { charCodeAt } from './primordials.ts';

/** Its first element counts the code units that follow. */
let units: Uint16Array | undefined;

/** Before any foreign code runs. */
export function installRecorder(): void {
  const shared = Reflect.get(globalThis, 'tatamiRecorder') as ArrayBufferLike | undefined;
  Reflect.deleteProperty(globalThis, 'tatamiRecorder');
  if (shared) units = new Uint16Array(shared);
}

export function recordEntry(text: string): void {
  if (!units) return;
  const used = units[0] as number;
  const comma = used === 0 ? 0 : 1;
  // Not `units.length`: its accessor lies on a prototype that plugins can change.
  if (1 + used + comma + text.length > recorderUnits) return;
  if (comma === 1) units[1 + used] = commaCode;
  for (let i = 0; i < text.length; i++) units[1 + used + comma + i] = charCodeAt(text, i);
  units[0] = used + comma + text.length;
}

export function forgetEntries(): void {
  if (units) units[0] = 0;
}

const commaCode = 44;
/** 16 KB of log with what JSON adds; what does not fit is left out. */
export const recorderUnits = 24 * 1024;
