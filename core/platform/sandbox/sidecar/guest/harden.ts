// Hardens the guest program against the plugin's code: takes references to built-ins before the code can
// replace them, and removes dangerous globals. A later call such as `something.method()` could run code of
// the plugin; a call of these references cannot.

const { bind, call } = Function.prototype;

/** `uncurry(String.prototype.slice)` is `(self, ...args) => self.slice(...args)`, unaffected by later changes of `call`. */
type Uncurry = <T, A extends unknown[], R>(method: (this: T, ...args: A) => R) => (self: T, ...args: A) => R;
export const uncurry = bind.bind(call) as Uncurry;

export const { parse, stringify } = JSON;
export const { create, defineProperty, freeze, keys } = Object;
export const { isArray } = Array;
export const { construct } = Reflect;
export const { floor, imul, max } = Math;
export const { fromCharCode } = String;
export const NativePromise = Promise;
export const NativeError = Error;
export const NativeTypeError = TypeError;
export const NativeRangeError = RangeError;
export const NativeUint8Array = Uint8Array;
export const stringOf = String;
export const numberOf = Number;
export const slice = uncurry(String.prototype.slice);
export const indexOf = uncurry(String.prototype.indexOf);
export const charCodeAt = uncurry(String.prototype.charCodeAt);

/** Returns a record without a prototype, so that a polluted `Object.prototype` has no effect on it. */
export function record<T>(): Record<string, T> {
  return create(null) as Record<string, T>;
}

/** Truncates to `unitsMax` UTF-16 units; returns '' for a value that is not a string. */
export function clip(text: unknown, unitsMax: number): string {
  if (typeof text !== 'string') return '';
  return text.length > unitsMax ? slice(text, 0, unitsMax) : text;
}

/**
 * Globals with which guest code could escape its memory limit, its timed entry or determinism: shared memory,
 * WebAssembly, and callbacks that the engine makes outside a timed entry (finalizers, `Atomics.waitAsync`).
 */
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
