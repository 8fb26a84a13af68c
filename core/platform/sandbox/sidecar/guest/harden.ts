// Removes globals with which guest code could escape its memory limit, its timed entry or determinism: shared and resizable memory,
// WebAssembly, and callbacks that the engine makes outside a timed entry (finalizers, `Atomics.waitAsync`).
import { construct, defineProperty, NativeTypeError } from './primordials.ts';

const removedGlobals = [
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'FinalizationRegistry',
  'WeakRef',
  'Temporal',
  'ShadowRealm',
  'gc',
  'console',
];

export function hardenRealm(): void {
  for (const name of removedGlobals) Reflect.deleteProperty(globalThis, name);
  replaceArrayBuffer();
}

/** Ignores `maxByteLength`, because the isolate's memory accounting misses the memory that a resizable ArrayBuffer reserves. */
function replaceArrayBuffer(): void {
  const Native = ArrayBuffer;
  const prototype = Native.prototype;
  function FixedArrayBuffer(this: unknown, byteLength?: unknown): unknown {
    if (!new.target) throw new NativeTypeError("Constructor ArrayBuffer requires 'new'");
    return construct(Native, [byteLength], new.target === FixedArrayBuffer ? Native : new.target);
  }
  for (const name of ['resize', 'transfer', 'transferToFixedLength', 'resizable', 'maxByteLength'])
    Reflect.deleteProperty(prototype, name);
  defineProperty(FixedArrayBuffer, 'name', { value: 'ArrayBuffer' });
  defineProperty(FixedArrayBuffer, 'prototype', { value: prototype, writable: false });
  defineProperty(FixedArrayBuffer, 'isView', { value: Native.isView, writable: true, configurable: true });
  defineProperty(prototype, 'constructor', { value: FixedArrayBuffer, writable: true, configurable: true });
  defineProperty(globalThis, 'ArrayBuffer', { value: FixedArrayBuffer, writable: true, configurable: true });
}
