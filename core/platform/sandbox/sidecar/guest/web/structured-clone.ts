// `structuredClone` (HTML § 2.7) for plain objects, arrays, maps, sets, dates, regular expressions, errors and bytes, without
// `transfer`.
import { errorWithName } from './abort.ts';
import { defineProperty, isArray, keys, stringOf } from '../harden.ts';

const NativeMap = Map;
const NativeSet = Set;
const NativeDate = Date;
const NativeBuffer = ArrayBuffer;
const { isView } = ArrayBuffer;
const errorTypes = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

type ClonedObjects = Map<object, unknown>;

export function structuredClone(value: unknown): unknown {
  return clone(value, new NativeMap());
}

function clone(value: unknown, seen: ClonedObjects): unknown {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw errorWithName('DataCloneError', `A ${typeof value} cannot be cloned. Remove it from the value.`);
  if (typeof value !== 'object' || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const leaf = cloneLeaf(value);
  if (leaf) {
    seen.set(value, leaf);
    return leaf;
  }
  if (isView(value)) return cloneView(value, seen);
  return cloneWhole(value, seen);
}

/** Clones a value that refers to no other values. */
function cloneLeaf(value: object): object | undefined {
  if (value instanceof NativeDate) return new NativeDate(value.getTime());
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof NativeBuffer) return value.slice(0);
  if (value instanceof Boolean || value instanceof Number || value instanceof String)
    return Object(value.valueOf()) as object;
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet)
    throw errorWithName(
      'DataCloneError',
      'A Promise, WeakMap or WeakSet cannot be cloned. Remove it from the value.',
    );
  return undefined;
}

function cloneView(view: ArrayBufferView, seen: ClonedObjects): ArrayBufferView {
  const buffer = clone(view.buffer, seen) as ArrayBuffer;
  const View = view.constructor as new (buffer: ArrayBuffer, at: number, length: number) => ArrayBufferView;
  const length = 'length' in view ? (view.length as number) : view.byteLength;
  const copy = new View(buffer, view.byteOffset, length);
  seen.set(view, copy);
  return copy;
}

function cloneWhole(value: object, seen: ClonedObjects): object {
  if (value instanceof NativeMap) {
    const copy = new NativeMap();
    seen.set(value, copy);
    for (const [key, one] of [...value]) copy.set(clone(key, seen), clone(one, seen));
    return copy;
  }
  if (value instanceof NativeSet) {
    const copy = new NativeSet();
    seen.set(value, copy);
    for (const one of [...value]) copy.add(clone(one, seen));
    return copy;
  }
  if (value instanceof Error) return cloneError(value, seen);
  const copy: object = isArray(value) ? [] : {};
  // Preserves holes at the end.
  if (isArray(value)) (copy as unknown[]).length = value.length;
  seen.set(value, copy);
  for (const key of keys(value)) {
    const one = clone((value as Record<string, unknown>)[key], seen);
    defineProperty(copy, key, { value: one, writable: true, enumerable: true, configurable: true });
  }
  return copy;
}

function cloneError(error: Error, seen: ClonedObjects): Error {
  const ErrorType = (errorTypes as Record<string, ErrorConstructor>)[error.name] ?? Error;
  const copy = new ErrorType(stringOf(error.message));
  seen.set(error, copy);
  defineProperty(copy, 'stack', { value: error.stack, writable: true, configurable: true });
  if ('cause' in error)
    defineProperty(copy, 'cause', { value: clone(error.cause, seen), writable: true, configurable: true });
  return copy;
}
