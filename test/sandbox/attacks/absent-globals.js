// Globals that would break determinism or the memory limit are absent.
import { attack, report } from './support/attack.js';

export default attack(async (event, ctx) => {
  const findings = [];
  for (const name of [
    'WebAssembly',
    'SharedArrayBuffer',
    'Atomics',
    'FinalizationRegistry',
    'WeakRef',
    'gc',
    'd8',
    'Worker',
    'Temporal',
  ])
    if (typeof globalThis[name] !== 'undefined') findings.push(name);
  for (const name of ['resize', 'transfer', 'transferToFixedLength'])
    if (name in ArrayBuffer.prototype) findings.push(name);
  if (new ArrayBuffer(8, { maxByteLength: 64 }).resizable) findings.push('resizable');
  if (new Uint8Array(1).buffer.constructor !== ArrayBuffer) findings.push('another ArrayBuffer');
  if (Date.now() !== new Date().getTime()) findings.push('two clocks');
  report(ctx, findings);
});
