// Reads the input of a command: flags, files, the editor and prompts, as a request.
import type { Call } from '../../../../sdk/client/index.ts';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { camel } from '../../../platform/lib/text/words.ts';
import { usage } from '../lib/flags.ts';
import { installIdOf, isRuleName, ruleIdOf } from './installs.ts';
import { idOf, pathOf } from './names.ts';
import type { Flag, Operation } from './table/operation.ts';
import { installFlags } from './table/shortcuts.ts';
import type { Request } from './send.ts';
import { valueOf, type Options } from './values.ts';

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

/** Returns true for a dry run. */
export const isTried = ({ dryRun }: Options): boolean => dryRun === true;

export type Values = Readonly<Record<'query' | 'body', Record<string, unknown>>>;

/** @throws CommandError */
export async function readValues({ operation, options, folder, body = {} }: Given): Promise<Values> {
  const values: Values = { query: {}, body: { ...body } };
  const source = { folder, nowMs: systemClock.nowMs() };
  const reading = operation.flags.flatMap((flag) =>
    [options[camel(flag.name)]].flat().flatMap((text) => (text === '-' ? [`--${flag.name}`] : [])),
  );
  if (reading.length > 1)
    throw usage(`Standard input can be read only once, not by ${reading.join(' and ')}.`);
  for (const flag of operation.flags) {
    const given = options[camel(flag.name)];
    if (given !== undefined) values[flag.in][flag.key] = await valueOf(flag, given, source);
  }
  return values;
}

interface Editing {
  readonly call: Call;
  /** Path of the call. */
  readonly path: () => Promise<string>;
  /** Receives texts from the editor, by their flags. */
  readonly drafts: Map<string, string>;
}

/** Adds texts from the editor, and secrets. @throws CommandError if a required flag is missing */
export async function completeBody(
  given: Given,
  body: Record<string, unknown>,
  { call, path, drafts }: Editing,
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
    const edited = await editedText(given.operation, text, { given: body[text.key], call, path });
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

interface FirstText extends Pick<Editing, 'call' | 'path'> {
  /** Text of the flag; without one, a change begins with the stored text. */
  readonly given: unknown;
}

async function editedText({ method }: Operation, { key, name }: Flag, first: FirstText): Promise<string> {
  const { given, call, path } = first;
  const { edited } = await import('./editor.ts');
  if (given !== undefined) return edited(name, String(given), false);
  const stored = method === 'PATCH' ? await call<Record<string, unknown>>('GET', await path()) : {};
  return edited(name, typeof stored[key] === 'string' ? stored[key] : '', true);
}

/** Returns a function that resolves the arguments once, because names are looked up in lists. */
export function pathOfCall({ operation, args }: Given, call: Call): () => Promise<string> {
  let path: Promise<string> | undefined;
  const resolve = async (): Promise<string> => {
    const ids: Record<string, string> = {};
    for (const { key, label, lookup } of operation.args) {
      const given = args[key]!;
      const isRule = label === 'plugin' && isRuleName(given);
      ids[key] = lookup
        ? await idOf(call, lookup, label, given)
        : isRule
          ? await ruleIdOf(call, given)
          : given;
    }
    return pathOf(operation, ids);
  };
  return () => (path ??= resolve());
}

/** Resolves names for which the API accepts only ids. */
export async function requestOf(
  { operation, args }: Given,
  values: Values,
  { call, path }: Pick<Editing, 'call' | 'path'>,
): Promise<Request> {
  const resolved: Values = { query: { ...values.query }, body: { ...values.body } };
  for (const { key, name, lookup, in: place } of operation.flags) {
    const given = resolved[place][key];
    if (typeof given !== 'string') continue;
    if (lookup) resolved[place][key] = await idOf(call, lookup, name, given);
    if (installFlags[operation.id] === name) resolved[place][key] = await installIdOf(call, given);
  }
  const inQuery = operation.args.filter(({ key }) => !operation.path.includes(`{${key}}`));
  const hasBody = Object.keys(resolved.body).length > 0 || operation.flags.some((flag) => flag.in === 'body');
  return {
    path: await path(),
    query: { ...Object.fromEntries(inQuery.map(({ key }) => [key, args[key]])), ...resolved.query },
    body: hasBody ? resolved.body : undefined,
  };
}
