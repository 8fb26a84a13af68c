// The built-ins the guest program works with, taken before the plugin's code can replace them. Anything called later
// through `something.method()` could be the plugin's; these cannot.

const { bind, call } = Function.prototype;

/** `uncurry(String.prototype.slice)` is `(self, ...args) => self.slice(...args)`, immune to later patches of `call`. */
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

/** A record without a prototype, so that a polluted `Object.prototype` is not seen through it. */
export function record<T>(): Record<string, T> {
  return create(null) as Record<string, T>;
}

/** Cuts to `unitsMax` UTF-16 units, whatever it is given. */
export function clip(text: unknown, unitsMax: number): string {
  if (typeof text !== 'string') return '';
  return text.length > unitsMax ? slice(text, 0, unitsMax) : text;
}
