// `tatami members reset EMAIL`: a link by which the owner of an account chooses another password.
import { callOperatorRpc, type LocalOptions } from '../keys/operator-rpc.ts';
import { printResult } from '../lib/output.ts';

export interface ResetOptions extends LocalOptions {
  codesOff?: boolean;
}

/** @param folder where a relative data directory begins */
export async function reset(email: string, options: ResetOptions, folder: string): Promise<void> {
  const { codesOff = false } = options;
  const made = await callOperatorRpc(options, folder, 'reset', { email, codesOff });
  printResult(made, options, ({ email: of, url, expiresAt }) =>
    [`account   ${of}`, `link      ${url}   (works once)`, `expires   ${expiresAt}`].join('\n'),
  );
}
