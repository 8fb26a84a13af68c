// `tatami webhooks rotate WHE`: a new signing secret, beside which the one before goes on signing for a while.
import { wholeNumber } from '../lib/flags.ts';
import { printResult } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';

export async function rotate(
  webhook: string,
  options: RemoteOptions & { overlapHours?: string },
): Promise<void> {
  const overlap = options.overlapHours;
  const body = overlap === undefined ? {} : { overlapHours: wholeNumber('--overlap-hours', overlap, 0, 168) };
  const rotated = await connect(options)<{
    id: string;
    secret: string;
    previousSecretExpiresAt: string;
  }>('POST', `/webhooks/${encodeURIComponent(webhook)}/rotate`, body);
  printResult(
    rotated,
    options,
    ({ id, secret, previousSecretExpiresAt: until }) =>
      `${id}  ${Number(overlap) === 0 ? 'the previous secret no longer signs' : `the previous secret also signs until ${until}`}\nNew signing secret, shown only once:  ${secret}`,
  );
}
