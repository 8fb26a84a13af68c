// The file of `--people`: who the people of another tracker are here. It is checked whole before anything is sent.
import { basename } from 'node:path';
import type { Call } from '../../../../../sdk/client/index.ts';
import { addressKey } from '../../../../platform/lib/address.ts';
import { counted, foldName, didYouMean } from '../../../../platform/lib/text/words.ts';
import { CommandError, exitCodes } from '../../lib/output.ts';
import { readAll } from '../../lib/remote.ts';
import { readRecords } from './records.ts';
import { requireFile, survey } from '../survey.ts';

export interface ImportMember {
  id: string;
  name: string;
  email: string | null;
}

/** Key of a person there → id of the member here. */
export type People = ReadonlyMap<string, string>;

/** Key of a person: the address where it is one, else the folded name. */
export const personKey = (text: string): string => addressKey(text) ?? foldName(text);

const faultsNamedMax = 20;

/** @throws CommandError that names every bad line */
export async function readPeople(file: string, call: Call): Promise<People> {
  requireFile(file);
  await survey(file);
  const members = await readAll<ImportMember>(call, '/members');
  const byAddress = new Map(members.flatMap(({ id, email }) => (email ? [[personKey(email), id]] : [])));
  const people = new Map<string, string>();
  const faults: string[] = [];
  const told = { bad: (at: string, why: string) => void faults.push(`${at}: ${why}`), left: () => {} };
  for await (const { at, one } of readRecords(file, ['source', 'member'], told)) {
    const [source, email] = [one('source').trim(), one('member').trim()];
    const id = byAddress.get(personKey(email));
    const known = people.get(personKey(source));
    if (source === '') told.bad(at, 'source is empty; use a login, name or e-mail address from the file');
    else if (email === '') told.bad(at, 'member is empty; use the e-mail address of a member');
    else if (id === undefined) {
      const addresses = members.flatMap((member) => member.email ?? []);
      told.bad(
        at,
        `no member has the e-mail address ${email}; add the member or correct the address.${didYouMean(email, addresses)}`.replace(
          /\.$/,
          '',
        ),
      );
    } else if (known !== undefined && known !== id)
      told.bad(at, `${source} is mapped to another member above; list each source once`);
    else people.set(personKey(source), id);
  }
  if (faults.length === 0) return people;
  const more = faults.length - faultsNamedMax;
  const lines = [
    ...faults.slice(0, faultsNamedMax),
    ...(more > 0 ? [`and ${counted(more, 'more line')}`] : []),
  ];
  throw new CommandError(
    `${basename(file)} has errors, and nothing was imported. Correct these lines:`,
    exitCodes.failed,
    {
      lines,
    },
  );
}
