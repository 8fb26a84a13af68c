// Performs an operation of the API as a command: reads its input, sends it and prints the response.
import { basename, resolve } from 'node:path';
import type { Call, ChangeOptions } from '../../../../sdk/client/index.ts';
import { printable } from '../../../platform/lib/text/printable.ts';
import { usage, wholeNumber } from '../lib/flags.ts';
import { CommandError, exitCodes, isTerminal, pour, printResult, say } from '../lib/output.ts';
import { confirm, requireTerminal } from '../lib/question.ts';
import { readWithProgress, pathWithQuery, type Pages } from '../lib/pages.ts';
import { callOf, remoteOf, type Remote, type RemoteOptions } from '../lib/remote.ts';
import { firstOf } from '../lib/table.ts';
import { requireReplaceable, writeOutputFile } from '../lib/write-file.ts';
import { flagError } from './errors.ts';
import { completeBody, isTried, pathOfCall, readValues, requestOf, type Given } from './input.ts';
import { namedError, pathOf } from './names.ts';
import type { Operation } from './table/operation.ts';
import { chosenFields, print } from './views/print.ts';
import { once, transfer, write, type Request } from './send.ts';
import { decisionPages } from './table/shortcuts.ts';
import type { Options } from './values.ts';

/** Server of a command, and the client for it. */
interface Target {
  readonly remote: Remote;
  readonly call: Call;
}

export async function perform(given: Given): Promise<void> {
  const { operation, args, options } = given;
  const values = await readValues(given);
  // Before the write, because a misspelled field would make the command fail after it.
  chosenFields(given);
  const remote = remoteOf(options as RemoteOptions);
  refuseDecision(operation, args, remote);
  const call = callOf(remote);
  const path = pathOfCall(given, call);
  const drafts = new Map<string, string>();
  try {
    const body = await completeBody(given, values.body, { call, path, drafts });
    const mustConfirm = operation.destroys === true && options.yes !== true && !isTried(options);
    if (mustConfirm && operation.args.length > 0)
      await confirm(`${[operation.summary, ...Object.values(args)].join(': ')}?`);
    const request = await requestOf(given, { query: values.query, body }, { call, path });
    if (mustConfirm && operation.args.length === 0) await confirmAll(operation, request, call);
    await respond(given, request, { remote, call });
  } catch (error) {
    for (const [name, text] of drafts) (await import('./editor.ts')).saveDraft(name, text);
    throw flagError(await namedError(error, operation, args, call), operation);
  }
}

/** @throws CommandError with the page on which a person decides */
function refuseDecision(operation: Operation, args: Given['args'], remote: Remote): void {
  const page = decisionPages[operation.id];
  if (page === undefined || remote.access === null) return;
  throw notDecided(decisionLink(page, args, remote));
}

/** @param page path with `{key}` for each argument */
export const decisionLink = (page: string, args: Given['args'], { server }: Remote): string =>
  server.replace(/\/+$/, '') + pathOf({ path: page, args: [] }, args);

/** @param place where the person decides @param lines below the message */
export function notDecided(place: string, lines: readonly string[] = []): CommandError {
  const message = `A login is an app and cannot decide for a person. Decide on ${place}, or pass an API key with --token or TATAMI_TOKEN.`;
  return new CommandError(message, exitCodes.failed, { lines });
}

const listedMax = 10;

/** Shows the objects that no argument names: those that a dry run would delete. */
async function confirmAll(
  { method, summary }: Operation,
  { path, body }: Request,
  call: Call,
): Promise<void> {
  requireTerminal('confirm');
  const { data } = await call<{ data: { identifier?: string; id: string }[] }>(method, path, body, {
    mode: 'simulate',
  });
  const names = data.map(({ identifier, id }) => identifier ?? id);
  await confirm(`${summary}: ${names.length === 0 ? 'none' : firstOf(names, listedMax, ', ')}?`);
}

async function respond(given: Given, request: Request, target: Target): Promise<void> {
  if (given.options.web === true) return (await import('./web.ts')).openPage(given, request, target);
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
  const limited = limit === undefined ? itemsDefault : wholeNumber('--limit', String(limit), 1, itemsMax);
  const most = all === true ? Infinity : limited;
  const { items, pageInfo } = await readWithProgress(call, request, most);
  await print(given, items);
  noteHidden(pageInfo);
  // A user who sets a limit expects more.
  if (pageInfo.hasNextPage && limit === undefined)
    say('More items exist. Show them with --all, or with --limit.');
}

/** A list may omit what the scopes of the caller do not cover. */
function noteHidden({ leftOut }: Pages<unknown>['pageInfo']): void {
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
  const begun = written as { id: string; status: string };
  const ended = await wait.until(call, begun, args).catch((error: unknown) => {
    // Otherwise the error would seem to be that of the write, which would be repeated.
    say(printable(`The request succeeded as ${begun.id}; waiting for its end failed.`));
    throw error;
  });
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
