// `tatami members invite MEMBER`: a link by which the member makes an account and takes the seat.
import { askDesk, type LocalOptions } from '../keys/desk.ts';
import { printResult } from '../output.ts';

export interface InviteOptions extends LocalOptions {
  workspace?: string;
}

/** @param folder where a relative data directory begins */
export async function invite(member: string, options: InviteOptions, folder: string): Promise<void> {
  const { workspace } = options;
  const made = await askDesk(options, folder, 'invite', {
    member,
    ...(workspace === undefined ? {} : { workspace }),
  });
  printResult(made, options, ({ member: { id, name }, url, expiresAt }) =>
    [`member    ${name} (${id})`, `link      ${url}   (works once)`, `until     ${expiresAt}`].join('\n'),
  );
}
