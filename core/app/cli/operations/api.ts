// `tatami api METHOD PATH [field=value…]`: calls any path of the API.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { usage } from '../lib/flags.ts';
import { printResult } from '../lib/output.ts';
import { readWithProgress, pathWithQuery } from '../lib/pages.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { parseJsonText } from '../../../platform/lib/json/json-fault.ts';
import { nearest } from '../../../platform/lib/text/words.ts';
import type { Operation } from './table/operation.ts';
import { flagError } from './errors.ts';
import { write, type Request } from './send.ts';
import { looseValue } from './values.ts';

export interface ApiOptions extends RemoteOptions {
  all?: boolean;
  dryRun?: boolean;
  idempotencyKey?: string;
  /** File of the body; `-` for standard input. */
  input?: string;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** @param folder in which relative paths begin */
export async function api(
  method: string,
  path: string,
  fields: readonly string[],
  options: ApiOptions,
  folder: string,
): Promise<void> {
  const verb = methodOf(method);
  if (options.all === true && verb !== 'GET') throw usage('--all needs the method GET.');
  const values = await bodyOf(fields, { ...options, isRead: verb === 'GET' }, folder);
  const request: Request = {
    path: `/${path.replace(/^\/?(api\/v1(?=\/|$))?\/?/, '')}`,
    query: verb === 'GET' ? values : {},
    body: hasBody(verb, values) ? values : undefined,
  };
  const answer = await send(verb, request, options).catch((error: unknown) => {
    throw flagError(error, { flags: [], args: [] });
  });
  // No content is null with --json, which is always one value.
  if (answer !== undefined || options.json === true)
    printResult(answer ?? null, options, () => JSON.stringify(answer, null, 2));
}

async function send(method: Operation['method'], request: Request, options: ApiOptions): Promise<unknown> {
  const { all, dryRun, idempotencyKey } = options;
  const call = connect(options);
  if (all === true) return (await readWithProgress(call, request, Infinity)).items;
  if (method === 'GET') return call('GET', pathWithQuery(request.path, request.query));
  return write(call, method, request, {
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(dryRun === true ? { mode: 'simulate' as const } : {}),
  });
}

const hasBody = (method: Operation['method'], values: object): boolean =>
  method !== 'GET' && Object.keys(values).length > 0;

function methodOf(text: string): Operation['method'] {
  const upper = text.toUpperCase();
  const method = methods.find((one) => one === upper);
  if (method) return method;
  const near = nearest(upper, methods);
  throw usage(
    `The method must be one of ${methods.join(', ')}, not "${text}".${near === undefined ? '' : ` Did you mean ${near}?`}`,
  );
}

async function bodyOf(
  fields: readonly string[],
  { input, isRead }: ApiOptions & { readonly isRead: boolean },
  folder: string,
): Promise<Record<string, unknown>> {
  // Without a prototype, so that no name refers to one.
  const given = Object.assign(
    Object.create(null),
    input === undefined ? {} : await readInput(input, folder),
  ) as Record<string, unknown>;
  for (const field of fields) setField(given, field, isRead, folder);
  return given;
}

async function readInput(input: string, folder: string): Promise<Record<string, unknown>> {
  const text = input === '-' ? await Bun.stdin.text() : readFileSync(resolve(folder, input), 'utf8');
  const value = jsonOf(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw usage('--input must be a JSON object.');
}

/** @throws CommandError */
function jsonOf(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (cause) {
    throw usage(`--input is not JSON: ${(cause as Error).message}.`, cause);
  }
}

/** `title=Crash`, `set.priority=high`, `labels=["bug"]`, `body=@notes.md`. A value is JSON where it is JSON, otherwise text. */
function setField(target: Record<string, unknown>, field: string, isText: boolean, folder: string): void {
  const at = field.indexOf('=');
  if (at < 1) throw usage(`A field must be name=value, not "${field}".`);
  const names = isText ? [field.slice(0, at)] : field.slice(0, at).split('.');
  // It would change the prototype of the value before it.
  if (names.includes('__proto__')) throw usage(`A property may not be named __proto__, as in "${field}".`);
  const text = field.slice(at + 1);
  const file = resolve(folder, text.slice(1));
  const value =
    text.startsWith('@') && existsSync(file) ? readFileSync(file, 'utf8') : isText ? text : looseValue(text);
  const last = names.pop()!;
  let inner = target;
  for (const name of names) {
    const part = (inner[name] ??= Object.create(null));
    if (typeof part !== 'object')
      throw usage(`${field} sets a part of ${name}, which has another value already.`);
    inner = part as Record<string, unknown>;
  }
  inner[last] = value;
}
