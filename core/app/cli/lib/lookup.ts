// Finds the object that an argument names, and explains that it does not exist. The server has one message for every missing object;
// a more specific message of the server stays.
import { ApiCallError } from '../../../../sdk/client/index.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { CommandError } from './output.ts';

/**
 * @param noun such as `member`
 * @param list noun of the commands: `members`
 * @param namesOf names besides the id, compared case-insensitively
 * @param listFlags flags with which the list shows these objects
 * @throws ApiCallError not_found, CommandError if several have the name
 */
export function theOne<T extends { readonly id: string }>(
  noun: string,
  list: string,
  given: string,
  all: readonly T[],
  namesOf: (one: T) => readonly (string | null)[],
  listFlags = '',
): T {
  const found = findAll(given, all, namesOf);
  const [only] = found;
  if (only && found.length === 1) return only;
  if (only)
    throw new CommandError(
      `Several ${list.replaceAll('-', ' ')} have the name ${given}: ${found.map(({ id }) => id).join(', ')}. Use the id of one.`,
    );
  const known = all.flatMap((one) => namesOf(one).filter((name) => name !== null));
  throw new ApiCallError(404, {
    code: 'not_found',
    message: `There is no ${noun} ${given}.${didYouMean(given, known)} List them with \`tatami ${list} list${listFlags}\`.`,
  });
}

/** Returns all objects with the id, or if there are none, with the name. */
export function findAll<T extends { readonly id: string }>(
  given: string,
  all: readonly T[],
  namesOf: (one: T) => readonly (string | null)[],
): T[] {
  const byId = all.filter(({ id }) => id === given);
  if (byId.length > 0) return byId;
  const wanted = given.toLowerCase();
  return all.filter((one) => namesOf(one).some((name) => name?.toLowerCase() === wanted));
}
