/** What a handler receives as `ctx`: one object per run, with only the members its declared scopes allow. */
import { callHost, hostError, sleep, writeLog } from './bridge.ts';
import { cpuLeftMs, now, random } from './clock.ts';
import { describeAll } from './globals.ts';
import { freeze, numberOf } from './primordials.ts';
import { surface, type Namespace } from './surface.ts';
import type { LogLevel } from '../../protocol.ts';

const KV = ['get', 'set', 'delete', 'list', 'increment', 'compareAndSet'];

export interface RunInput {
  event: unknown;
  run: Record<string, unknown>;
  settings: unknown;
  nowMs: number;
  seed: unknown;
  /** Granted scopes; absent means all that are declared. */
  scopes?: string[];
}

export function makeContext(run: number, input: RunInput, declared: readonly string[]): object {
  const granted = input.scopes ?? declared;
  const ctx: Record<string, unknown> = {
    run: freeze({ ...input.run, cpuLeftMs }),
    settings: input.settings,
    now,
    random,
    log: makeLog(),
  };
  ctx.has = (scope: string): boolean => allows(granted, scope);
  ctx.sleep = (ms: unknown): Promise<unknown> => sleep(run, numberOf(ms) || 0);
  ctx.kv = namespace(run, 'kv', KV);
  ctx.fetch = () => Promise.reject(hostError('egress_denied', 'This plugin may not reach the network.'));
  for (const { name, reads, writes, earlier } of surface) {
    if (!allows(declared, `${name}:read`)) continue;
    const methods = allows(declared, `${name}:write`) ? [...reads, ...writes] : reads;
    ctx[name] = namespace(run, name, methods, earlier);
  }
  return freeze(ctx);
}

/** Write implies read. */
function allows(scopes: readonly string[], scope: string): boolean {
  for (let i = 0; i < scopes.length; i++) {
    const one = scopes[i] as string;
    if (one === scope || (scope.endsWith(':read') && one === `${scope.slice(0, -5)}:write`)) return true;
  }
  return false;
}

function namespace(
  run: number,
  name: string,
  methods: readonly string[],
  earlier: Namespace['earlier'] = [],
): object {
  const members: Record<string, unknown> = {};
  for (const method of methods)
    members[method] = (...args: unknown[]): Promise<unknown> => callHost(run, `${name}.${method}`, args);
  for (const [before, now] of earlier) if (methods.includes(now)) members[before] = members[now];
  return freeze(members);
}

function makeLog(): object {
  const write =
    (level: LogLevel) =>
    (...parts: unknown[]): void =>
      writeLog(level, describeAll(parts));
  return freeze({ debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') });
}
