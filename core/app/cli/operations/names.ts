// Finds the objects that arguments name: resolves names to ids, and explains which object does not exist.
import { ApiCallError, type Call } from '../../../../sdk/client/index.ts';
import { errorCodes } from '../../../platform/lib/errors/errors.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { theOne } from '../lib/lookup.ts';
import { readAll } from '../lib/remote.ts';
import type { Argument, Lookup, Operation } from './operation.ts';
import { operationOf, operationsOf, verbsOf } from './table.ts';

type Named = { readonly id: string } & Readonly<Record<string, unknown>>;

/** Returns the id of an object, given by its id or a name. @param label such as `label` @throws ApiCallError not_found */
export async function idOf(
  call: Call,
  { list, by, id }: Lookup,
  label: string,
  given: string,
): Promise<string> {
  if (new RegExp(id).test(given)) return given;
  const all = await readAll<Named>(call, list);
  const namesOf = (one: Named): (string | null)[] =>
    by.map((name) => (typeof one[name] === 'string' ? (one[name] as string) : null));
  return theOne(label, given, all, namesOf).id;
}

/** Returns the path of a call, with its arguments. */
export function pathOf({ path }: Operation, args: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(args[key] ?? ''));
}

/** Properties by which people know objects, for suggestions. */
const known = ['pluginId', 'key', 'name', 'identifier', 'id'];

/**
 * Returns the error with the missing object in words, where the server has only its general message.
 * @param given values of the arguments, as typed
 */
export async function namedError(
  error: unknown,
  operation: Operation,
  given: Readonly<Record<string, string>>,
  call: Call,
): Promise<unknown> {
  if (!(error instanceof ApiCallError) || error.status !== 404 || error.message !== errorCodes.not_found.text)
    return error;
  const inPath = operation.args.filter(({ key }) => operation.path.includes(`{${key}}`));
  const [first, last] = [inPath[0], inPath.at(-1)];
  if (!first || !last) return error;
  const hasParent = first !== last && (await exists(operation, given, call));
  const message = hasParent
    ? inParent(first, last, given)
    : await missing(operation, first, given[first.key] ?? '', call);
  const { code, requestId, page } = error;
  return new ApiCallError(404, {
    code,
    message,
    page,
    cause: error,
    ...(requestId === null ? {} : { requestId }),
  });
}

const inParent = (first: Argument, last: Argument, given: Readonly<Record<string, string>>): string =>
  `The ${first.label} ${given[first.key]} has no ${last.label} ${given[last.key]}.`;

/** Returns true if the object of the first argument exists. */
async function exists(
  operation: Operation,
  given: Readonly<Record<string, string>>,
  call: Call,
): Promise<boolean> {
  const [, segment = ''] = operation.path.split('/');
  try {
    await call('GET', `/${segment}/${encodeURIComponent(given[operation.args[0]!.key] ?? '')}`);
    return true;
  } catch {
    return false;
  }
}

async function missing({ path }: Operation, { label }: Argument, given: string, call: Call): Promise<string> {
  const [, segment = ''] = path.split('/');
  const list = operationsOf(segment).find(
    ({ path: of, answer }) => of === `/${segment}` && answer === 'page',
  );
  if (!list) return `There is no ${label} ${given}.`;
  const all = await readAll<Record<string, unknown>>(call, list.path).catch(() => []);
  const names = all.flatMap((one) =>
    known.map((name) => one[name]).filter((name) => typeof name === 'string'),
  );
  const hint = ` List them with \`tatami ${segment} ${verbsOf(list).join(' ')}\`.`;
  return `There is no ${label} ${given}.${didYouMean(given, names as string[])}${hint}`;
}

/** Returns the result of work on an object; its error says in words that the object is missing. @param id of the operation */
export async function explained<T>(
  call: Call,
  id: string,
  given: Readonly<Record<string, string>>,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw await namedError(error, operationOf(id), given, call);
  }
}
