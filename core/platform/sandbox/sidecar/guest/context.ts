// Builds the `ctx` of a handler, one object per run. Calls whose scope the manifest does not declare reject with the scope to add.
import { callHost, hostError, sleep, writeLog } from './bridge.ts';
import { cpuLeftMs, now, random } from './clock.ts';
import { describeAll } from './globals.ts';
import { fetchIn } from './web/fetch.ts';
import { create, freeze, keys, NativeError, NativePromise, numberOf, stringOf } from './harden.ts';
import { surface } from './generated/surface.ts';
import type { GuestLogLevel } from '../../protocol.ts';

const KV = ['get', 'set', 'delete', 'list', 'increment', 'compareAndSet'];
const SCHEDULE = ['once', 'cancel'];
/** For automations only; the host refuses the call of any other plugin. */
const ACTIONS = ['call'];

export interface GuestInput {
  event: unknown;
  run: Record<string, unknown>;
  settings: unknown;
  nowMs: number;
  seed: unknown;
  /** For a plugin with secrets: the reference of each, and the names of those that are set. */
  secrets?: { refs: Record<string, string>; set: string[] };
  /** Granted scopes; absent for all declared ones. */
  scopes?: string[];
}

/** The calls of one member of `ctx`, as pairs of method and host operation. */
interface Namespace {
  readonly name: string;
  readonly calls: readonly (readonly [method: string, op: string])[];
  /** Prototype of the member, with the calls whose scope is not declared. */
  readonly refused: object;
}

/** Namespaces of `ctx` for the declared scopes; built once, so that refused calls add no cost per run. */
interface Members {
  readonly namespaces: readonly Namespace[];
  /** Prototype of `ctx`, with the namespaces without a declared scope. */
  readonly undeclared: object;
}

export function membersOf(declared: readonly string[]): Members {
  const nothing = freeze({});
  const namespaces = [
    namespaceOf('kv', KV, nothing),
    namespaceOf('schedule', SCHEDULE, nothing),
    namespaceOf('actions', ACTIONS, nothing),
  ];
  const undeclared: Record<string, object> = {};
  for (const { name, scope, reads, writes } of surface) {
    const mayRead = allows(declared, `${scope}:read`);
    const methods = allows(declared, `${scope}:write`) ? [...reads, ...writes] : mayRead ? reads : [];
    const refused: Record<string, unknown> = {};
    for (const method of reads)
      if (!mayRead) refused[method] = refusing(`${name}.${method}`, `${scope}:read`);
    for (const method of writes)
      if (!methods.includes(method)) refused[method] = refusing(`${name}.${method}`, `${scope}:write`);
    if (!mayRead) undeclared[name] = freeze(refused);
    else namespaces.push(namespaceOf(name, methods, freeze(refused)));
  }
  return { namespaces, undeclared: freeze(undeclared) };
}

/** Returns a method that rejects, naming the scope to add. */
function refusing(call: string, scope: string): () => Promise<never> {
  const message = `ctx.${call} needs the scope ${scope}, which the plugin does not declare. Add "${scope}": { why: '…' } to \`scopes\` in the plugin definition, and install the plugin again.`;
  return () => {
    const site = new NativeError();
    return new NativePromise((_, reject) => reject(hostError('insufficient_scope', message, site)));
  };
}

function namespaceOf(name: string, methods: readonly string[], refused: object): Namespace {
  return { name, calls: methods.map((method) => [method, `${name}.${method}`] as const), refused };
}

/** @param declared declared scopes, the same as those passed to `membersOf` */
export function makeContext(
  run: number,
  input: GuestInput,
  declared: readonly string[],
  { namespaces, undeclared }: Members,
): object {
  const granted = input.scopes ?? declared;
  const ctx: Record<string, unknown> = {
    __proto__: undeclared,
    run: freeze({ ...input.run, cpuLeftMs }),
    settings: input.settings,
    now,
    random,
    log,
    has: (scope: string): boolean => allows(granted, scope),
    sleep: (ms: unknown): Promise<unknown> => sleep(run, numberOf(ms) || 0),
    fetch: (input: unknown, init?: unknown): Promise<unknown> => fetchIn(run, input, init),
    secrets: secretsOf(input.secrets),
  };
  // Uses indexed loops, because iterators are slow in interpreted code, and the plugin can replace them.
  for (let i = 0; i < namespaces.length; i++) {
    const { name, calls, refused } = namespaces[i] as Namespace;
    const members = create(refused) as Record<string, unknown>;
    for (let j = 0; j < calls.length; j++) {
      const call = calls[j] as Namespace['calls'][number];
      const op = call[1];
      members[call[0]] = (...args: unknown[]): Promise<unknown> => callHost(run, op, args);
    }
    ctx[name] = freeze(members);
  }
  return freeze(ctx);
}

const none = { refs: {}, set: [] };

function secretsOf({ refs, set }: NonNullable<GuestInput['secrets']> = none): object {
  return freeze({
    has(name: unknown): boolean {
      for (let i = 0; i < set.length; i++) if (set[i] === name) return ownText(refs, name) !== undefined;
      return false;
    },
    ref(name: unknown): string {
      const ref = ownText(refs, name);
      if (ref === undefined)
        throw hostError(
          'validation_failed',
          `The manifest declares no secret ${stringOf(name)}. Add it to \`secrets\` in the plugin definition.`,
        );
      return ref;
    },
  });
}

/** Reads an own property, so that a polluted prototype has no effect. */
function ownText(of: Record<string, string>, name: unknown): string | undefined {
  const names = keys(of);
  for (let i = 0; i < names.length; i++) if (names[i] === name) return of[names[i] as string];
  return undefined;
}

/** Returns true if the scopes include a scope; write includes read. */
function allows(scopes: readonly string[], scope: string): boolean {
  for (let i = 0; i < scopes.length; i++) {
    const one = scopes[i] as string;
    if (one === scope || (scope.endsWith(':read') && one === `${scope.slice(0, -5)}:write`)) return true;
  }
  return false;
}

const logAt =
  (level: GuestLogLevel) =>
  (...parts: unknown[]): void =>
    writeLog(level, describeAll(parts));
const log = freeze({
  debug: logAt('debug'),
  info: logAt('info'),
  warn: logAt('warn'),
  error: logAt('error'),
});
