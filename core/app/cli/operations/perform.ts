// Performs an operation of the API as a command: reads its input, sends it and prints the response.
import { basename, resolve } from 'node:path';
import type { Call, ChangeOptions } from '../../../../sdk/client/index.ts';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { printable, printableCopy } from '../../../platform/lib/text/printable.ts';
import { usage, wholeNumber } from '../lib/flags.ts';
import { CommandError, exitCodes, isTerminal, pour, printResult, say, terminalWidth } from '../lib/output.ts';
import { isConfirmed } from '../lib/question.ts';
import { callOf, remoteOf, type Remote, type RemoteOptions } from '../lib/remote.ts';
import { requireReplaceable, writeOutputFile } from '../lib/write-file.ts';
import { flagError } from './errors.ts';
import { lowerFirst } from './help.ts';
import { idOf, namedError, pathOf } from './names.ts';
import type { Flag, Operation } from './operation.ts';
import { once, pathWithQuery, readPages, transfer, write, type Page, type Request } from './send.ts';
import { chosen, fieldsOf, objectLines, tableLines } from './show.ts';
import { columns as preferred, decisionPages } from './shortcuts.ts';
import { valueOf, type Options } from './values.ts';
import { views, type Shown } from './views.ts';

export interface Given {
  readonly operation: Operation;
  /** Values of the arguments, by their keys; the file of an upload is `file`. */
  readonly args: Readonly<Record<string, string>>;
  readonly options: Options;
  /** Fixed body, for a command that has no flags for it. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Folder in which relative paths begin. */
  readonly folder: string;
}

/** What a command needs besides its input. */
interface Target {
  readonly remote: Remote;
  readonly call: Call;
}

export async function perform(given: Given): Promise<void> {
  const { operation, args, options } = given;
  const values = await readValues(given);
  chosenFields(given);
  const remote = remoteOf(options as RemoteOptions);
  refuseDecision(operation, args, remote);
  const call = callOf(remote);
  const drafts = new Map<string, string>();
  try {
    const body = await completeBody(given, values.body, { call, drafts });
    if (operation.destroys && options.yes !== true && !isTried(options))
      await confirm([operation.summary, ...Object.values(args)].join(': '));
    const request = await requestOf(given, { query: values.query, body }, call);
    await respond(given, request, { remote, call });
  } catch (error) {
    for (const [name, text] of drafts) (await import('./editor.ts')).saveDraft(name, text);
    throw flagError(await namedError(error, operation, args, call), operation);
  }
}

const isTried = ({ dryRun }: Options): boolean => dryRun === true;

type Values = Readonly<Record<'query' | 'body', Record<string, unknown>>>;

/** @returns the fields to show; null for all @throws CommandError */
function chosenFields({ operation, options }: Given): string[] | null {
  return typeof options.fields === 'string' ? fieldsOf(options.fields, operation.fields ?? []) : null;
}

/** @throws CommandError */
async function readValues({ operation, options, folder, body = {} }: Given): Promise<Values> {
  const values: Values = { query: {}, body: { ...body } };
  const source = { folder, nowMs: systemClock.nowMs() };
  const reading = operation.flags.filter((flag) => [options[optionOf(flag)]].flat().includes('-'));
  if (reading.length > 1)
    throw usage(
      `Only one flag can read standard input, not ${reading.map(({ name }) => `--${name}`).join(' and ')}.`,
    );
  for (const flag of operation.flags) {
    const given = options[optionOf(flag)];
    if (given !== undefined) values[flag.in][flag.key] = await valueOf(flag, given, source);
  }
  return values;
}

/** Name of the option in Commander: `target-date` → `targetDate`. */
const optionOf = ({ name }: Flag): string =>
  name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

interface Editing {
  readonly call: Call;
  /** Receives texts from the editor, by their flags. */
  readonly drafts: Map<string, string>;
}

/** Adds texts from the editor, and secrets. @throws CommandError if a required flag is missing */
async function completeBody(
  given: Given,
  body: Record<string, unknown>,
  { call, drafts }: Editing,
): Promise<Record<string, unknown>> {
  const { flags } = given.operation;
  const secret = flags.find(({ isSecret }) => isSecret);
  if (secret) body[secret.key] = await (await import('./editor.ts')).readSecret(secret.name);
  const missing = flags.filter(
    (flag) => flag.in === 'body' && flag.isRequired === true && body[flag.key] === undefined,
  );
  const text = flags.find(({ isLong }) => isLong);
  const isEdited = given.options.editor === true || (text && missing.includes(text) && process.stdin.isTTY);
  if (text && isEdited) {
    // Before the editor opens, because its text would be lost.
    requireFlags(missing.filter((flag) => flag !== text));
    const edited = await editedText(given, text, body[text.key], call);
    drafts.set(text.name, edited);
    body[text.key] = edited;
  }
  if (given.operation.method === 'PATCH' && Object.keys(body).length === 0)
    throw usage(
      'Name at least one flag with a value to change. Run the command with --help to see the flags.',
    );
  requireFlags(missing.filter(({ key }) => body[key] === undefined));
  return body;
}

/** @throws CommandError unless the list is empty */
function requireFlags(missing: readonly Flag[]): void {
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => `--${name}`).join(', ');
  throw usage(
    `${names} ${missing.length === 1 ? 'is' : 'are'} required: ${missing.map(({ doc }) => doc).join(' ')}`,
  );
}

/** @param text given with the flag; otherwise, a change begins with the stored text */
async function editedText(
  { operation, args }: Given,
  { key, name }: Flag,
  text: unknown,
  call: Call,
): Promise<string> {
  const first = text ?? (operation.method === 'PATCH' ? await currentText(operation, args, key, call) : '');
  return (await import('./editor.ts')).edited(name, String(first));
}

async function currentText(
  operation: Operation,
  args: Given['args'],
  key: string,
  call: Call,
): Promise<string> {
  const path = await pathOfCall(operation, args, call);
  const { [key]: text } = await call<Record<string, unknown>>('GET', path);
  return typeof text === 'string' ? text : '';
}

/** @throws CommandError with the page on which a person decides */
function refuseDecision(operation: Operation, args: Given['args'], remote: Remote): void {
  const page = decisionPages[operation.id];
  if (page === undefined || remote.access === null) return;
  throw new CommandError(
    `A login is an app and cannot decide for a person. Decide on ${decisionLink(page, args, remote)}, or pass an API key with --token or TATAMI_TOKEN.`,
  );
}

/** @param page path with `{key}` for each argument */
export const decisionLink = (page: string, args: Given['args'], { server }: Remote): string =>
  server.replace(/\/+$/, '') +
  page.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(args[key] ?? ''));

/** @param action such as `Delete a label: bug` @throws CommandError if it is declined, or cannot be confirmed */
export async function confirm(action: string): Promise<void> {
  if (!process.stdin.isTTY) throw usage('There is no terminal to confirm this. Add --yes to confirm it.');
  if (!(await isConfirmed(`${action}?`))) throw new CommandError('Nothing was changed.');
}

async function pathOfCall(operation: Operation, args: Given['args'], call: Call): Promise<string> {
  const ids: Record<string, string> = {};
  for (const { key, label, lookup } of operation.args)
    ids[key] = lookup ? await idOf(call, lookup, label, args[key]!) : args[key]!;
  return pathOf(operation, ids);
}

/** Resolves names for which the API accepts only ids. */
async function requestOf({ operation, args }: Given, values: Values, call: Call): Promise<Request> {
  const resolved: Values = { query: { ...values.query }, body: { ...values.body } };
  for (const { key, name, lookup, in: place } of operation.flags) {
    const given = resolved[place][key];
    if (lookup && typeof given === 'string') resolved[place][key] = await idOf(call, lookup, name, given);
  }
  const inQuery = operation.args.filter(({ key }) => !operation.path.includes(`{${key}}`));
  const hasBody = Object.keys(resolved.body).length > 0 || operation.flags.some((flag) => flag.in === 'body');
  return {
    path: await pathOfCall(operation, args, call),
    query: { ...Object.fromEntries(inQuery.map(({ key }) => [key, args[key]])), ...resolved.query },
    body: hasBody ? resolved.body : undefined,
  };
}

async function respond(given: Given, request: Request, target: Target): Promise<void> {
  switch (given.operation.answer) {
    case 'page':
      return respondWithPages(given, request, target);
    case 'file':
      return download(given, request, target);
    case 'upload':
      return print(given, await upload(given, request, target));
    case 'stream':
      return (await import('./stream.ts')).follow(given, request, target);
    default:
      return respondWithValue(given, request, target);
  }
}

const itemsDefault = 50;
const itemsMax = 1_000_000;

async function respondWithPages(given: Given, request: Request, { call }: Target): Promise<void> {
  const { limit, all } = given.options;
  if (all === true && limit !== undefined) throw usage('Use --all or --limit, not both.');
  const most =
    all === true
      ? Infinity
      : limit === undefined
        ? itemsDefault
        : wholeNumber('--limit', String(limit), 1, itemsMax);
  const { items, pageInfo } = await readPages(call, request, most);
  await print(given, items);
  noteHidden(pageInfo);
  // Who sets a limit expects more.
  if (pageInfo.hasNextPage && limit === undefined)
    say('More items exist. Show them with --all, or with --limit.');
}

/** A list may omit what the scopes of the caller do not cover. */
function noteHidden({ leftOut }: Page['pageInfo']): void {
  if (Array.isArray(leftOut) && leftOut.length > 0)
    say(
      `Some entries are hidden, because this key lacks ${leftOut.map((scope) => printable(String(scope))).join(' and ')}.`,
    );
}

async function respondWithValue(given: Given, request: Request, { remote, call }: Target): Promise<void> {
  const { operation, options, args } = given;
  if (operation.method === 'GET')
    return print(given, await call('GET', pathWithQuery(request.path, request.query)));
  // After an answer, as to the search for a name, a client repeats lost requests itself, and `write` repeats its attempts.
  const newCall = callOf({ ...remote, named: null });
  const written = await write<unknown>(newCall, operation.method, request, termsOf(options));
  const wait =
    isTried(options) || options.wait === false ? undefined : (await import('./waits.ts')).waits[operation.id];
  if (!wait) return print(given, written);
  const ended = await wait.until(call, written as { id: string; status: string }, args);
  await print(given, ended);
  if (wait.failed(ended)) process.exitCode = exitCodes.failed;
}

function termsOf({ idempotencyKey, ifVersion, dryRun }: Options): ChangeOptions {
  return {
    ...(typeof idempotencyKey === 'string' ? { idempotencyKey } : {}),
    ...(ifVersion === undefined
      ? {}
      : { ifVersion: wholeNumber('--if-version', String(ifVersion), 1, Number.MAX_SAFE_INTEGER) }),
    ...(dryRun === true ? { mode: 'simulate' as const } : {}),
  };
}

async function upload(
  { operation, args, options, folder }: Given,
  request: Request,
  { remote }: Target,
): Promise<unknown> {
  const path = resolve(folder, args.file!);
  const body = Bun.file(path);
  if (!(await body.exists())) throw usage(`There is no file ${args.file}.`);
  const query = { name: basename(path), ...request.query };
  return once(termsOf(options), async (key) => {
    const headers = { 'idempotency-key': key, 'content-type': body.type };
    return (await transfer(remote, operation, { ...request, query }, { body, headers })).json();
  });
}

/** Writes a file to `--out`, or to standard output where that is not a terminal. */
async function download(
  { operation, options, folder }: Given,
  request: Request,
  { remote }: Target,
): Promise<void> {
  const { out } = options;
  if (out === undefined && isTerminal()) throw usage('Pass --out with the name of the file; `-` prints it.');
  const path = typeof out === 'string' && out !== '-' ? resolve(folder, out) : null;
  if (path !== null) requireReplaceable(path, options.force === true);
  const response = await transfer(remote, operation, request);
  if (path !== null) {
    writeOutputFile(path, new Uint8Array(await response.arrayBuffer()));
    return printResult({ file: out }, options, ({ file }) => `The file is saved as ${String(file)}.`);
  }
  for await (const chunk of response.body!) await pour(chunk);
}

/** @param value items of a list, one object, or undefined for no content */
async function print(given: Given, value: unknown): Promise<void> {
  const { operation, args, options } = given;
  if (isTried(options)) say('Dry run: nothing was changed.');
  if (value === undefined) return printDone(given);
  const items = itemsOf(operation, value);
  const names = chosenFields(given);
  const shown = names ? chosen(items ?? [value], names) : (items ?? [value]);
  const output = items ? shown : shown[0];
  if (options.json === true) return printResult(output, options, () => '');
  const text = await textOf(operation, { output, names }, { isTried: isTried(options), given: args });
  printResult(output, options, () => text);
  // Public apps and routes have no secret.
  const hasSecret = operation.reveals === true && (value as { secret?: unknown }).secret !== null;
  if (hasSecret && !isTried(options)) say('The secret is shown only once. Store it now.');
}

/** Returns the items of a list; null for a single object. */
function itemsOf({ answer }: Operation, value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value;
  return answer === 'list' ? (value as { data: unknown[] }).data : null;
}

async function textOf(
  operation: Operation,
  { output, names }: { readonly output: unknown; readonly names: readonly string[] | null },
  shown: Shown,
): Promise<string> {
  const { id } = operation;
  if (Array.isArray(output) && output.length === 0) return 'Nothing found.';
  const view = names === null ? views[id] : undefined;
  if (view) return view(printableCopy(output) as never, shown);
  // Chosen fields are shown also where they have no value.
  if (!Array.isArray(output)) return objectLines(output, names === null).join('\n');
  return tableLines(output, names ?? preferred[id] ?? operation.columns ?? [], terminalWidth()).join('\n');
}

/** @throws never; the operation has no content to show */
function printDone({ operation, args, options }: Given): void {
  const isDone = !isTried(options);
  const result = { done: isDone, operation: operation.id, ...args };
  const objects = Object.values(args).join(' ');
  printResult(
    result,
    options,
    () =>
      `${isDone ? 'Done' : 'Would succeed'}: ${lowerFirst(operation.summary)}${objects === '' ? '' : ` (${objects})`}.`,
  );
}
