// Reads the plugin's definition, the module's default export: handlers by name, declared scopes, static manifest.
import { handlerMembers, type HandlerKind } from '../../../../../sdk/plugin/handlers.ts';
import { clip, isArray, keys, NativeTypeError, record, stringify } from './harden.ts';

type Handler = (event: unknown, ctx: object) => unknown;
type Shape = Record<string, unknown>;

export interface GuestDefinition {
  handlers: Record<string, Handler>;
  scopes: string[];
}

const kinds = keys(handlerMembers) as HandlerKind[];

export function readDefinition(exported: unknown): GuestDefinition {
  if (!isObject(exported))
    throw new NativeTypeError('The default export of a plugin must be definePlugin({…}).');
  const handlers = record<Handler>();
  for (const kind of kinds) {
    const member = handlerMembers[kind];
    const entries = exported[member];
    if (!isObject(entries)) continue;
    for (const name of keys(entries)) {
      const entry = entries[name];
      const handle = typeof entry === 'function' ? entry : isObject(entry) ? entry.handle : undefined;
      if (typeof handle !== 'function')
        throw new NativeTypeError(`${member}['${clip(name, 100)}'] has no handle function. Add \`handle\`.`);
      handlers[`${kind}:${name}`] = handle as Handler;
    }
  }
  const scopes = exported.scopes;
  return { handlers, scopes: isArray(scopes) ? (scopes as string[]) : isObject(scopes) ? keys(scopes) : [] };
}

/** Returns the sorted handler names as JSON text, because only text crosses to the host. */
export function handlerNames(definition: GuestDefinition): string {
  return stringify(keys(definition.handlers).sort());
}

/** Returns the definition without its functions, as JSON text. */
export function staticManifest(exported: unknown): string {
  const definition = readDefinition(exported);
  const shape = { ...(exported as Shape) };
  for (const kind of kinds) {
    const member = handlerMembers[kind];
    const entries = shape[member];
    if (!isObject(entries)) continue;
    const plain = record<unknown>();
    for (const name of keys(entries)) {
      const entry = entries[name];
      plain[name] = typeof entry === 'function' ? {} : { ...(entry as Shape), handle: undefined };
    }
    shape[member] = plain;
  }
  shape.handlers = keys(definition.handlers).sort();
  return stringify(shape);
}

function isObject(value: unknown): value is Shape {
  return typeof value === 'object' && value !== null;
}
