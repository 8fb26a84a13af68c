/** What a handler receives as `ctx`: one object per run, with only the members its declared scopes allow. */
import { callHost, hostError, sleep, writeLog } from './bridge.ts';
import { cpuLeftMs, now, random } from './clock.ts';
import { describeAll } from './globals.ts';
import { fetchIn } from './fetch.ts';
import { freeze, keys, numberOf, stringOf } from './primordials.ts';
import { surface } from './surface.ts';
import type { LogLevel } from '../../protocol.ts';

const KV = ['get', 'set', 'delete', 'list', 'increment', 'compareAndSet'];
const SCHEDULE = ['once', 'cancel'];

export interface RunInput {
  event: unknown;
  run: Record<string, unknown>;
  settings: unknown;
  nowMs: number;
  seed: unknown;
  /** Of a plugin that has some: what stands for each, and which are set. */
  secrets?: { refs: Record<string, string>; set: string[] };
  /** Granted scopes; absent means all that are declared. */
  scopes?: string[];
}

/** The calls of one member of `ctx`, each by its name and as the host knows it. */
interface Namespace {
  readonly name: string;
  readonly calls: readonly (readonly [method: string, op: string])[];
}

/** What a plugin with these declared scopes finds in `ctx`; the same in every run. */
export function namespacesOf(declared: readonly string[]): readonly Namespace[] {
  const namespaces = [namespaceOf('kv', KV), namespaceOf('schedule', SCHEDULE)];
  for (const { name, scope, reads, writes, earlier = [] } of surface) {
    if (!allows(declared, `${scope}:read`)) continue;
    const methods = allows(declared, `${scope}:write`) ? [...reads, ...writes] : reads;
    namespaces.push(
      namespaceOf(
        name,
        methods,
        earlier.filter(([, now]) => methods.includes(now)),
      ),
    );
  }
  return namespaces;
}

function namespaceOf(
  name: string,
  methods: readonly string[],
  earlier: readonly (readonly [before: string, now: string])[] = [],
): Namespace {
  const known = methods.map((method) => [method, method] as const);
  return { name, calls: [...known, ...earlier].map(([called, method]) => [called, `${name}.${method}`]) };
}

/** @param declared scopes, and what `namespacesOf` made of them */
export function makeContext(
  run: number,
  input: RunInput,
  declared: readonly string[],
  namespaces: readonly Namespace[],
): object {
  const granted = input.scopes ?? declared;
  const ctx: Record<string, unknown> = {
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
  // Counted loops: an iterator is slow where code is interpreted, and the plugin's to replace.
  for (let i = 0; i < namespaces.length; i++) {
    const { name, calls } = namespaces[i] as Namespace;
    const members: Record<string, unknown> = {};
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

function secretsOf({ refs, set }: NonNullable<RunInput['secrets']> = none): object {
  return freeze({
    has(name: unknown): boolean {
      for (let i = 0; i < set.length; i++) if (set[i] === name) return ownText(refs, name) !== undefined;
      return false;
    },
    ref(name: unknown): string {
      const ref = ownText(refs, name);
      if (ref === undefined)
        throw hostError('validation_failed', `The manifest declares no secret ${stringOf(name)}.`);
      return ref;
    },
  });
}

/** Of the record itself, whatever its prototype was made to hold. */
function ownText(of: Record<string, string>, name: unknown): string | undefined {
  const names = keys(of);
  for (let i = 0; i < names.length; i++) if (names[i] === name) return of[names[i] as string];
  return undefined;
}

/** Write implies read. */
function allows(scopes: readonly string[], scope: string): boolean {
  for (let i = 0; i < scopes.length; i++) {
    const one = scopes[i] as string;
    if (one === scope || (scope.endsWith(':read') && one === `${scope.slice(0, -5)}:write`)) return true;
  }
  return false;
}

const logAt =
  (level: LogLevel) =>
  (...parts: unknown[]): void =>
    writeLog(level, describeAll(parts));
const log = freeze({
  debug: logAt('debug'),
  info: logAt('info'),
  warn: logAt('warn'),
  error: logAt('error'),
});
