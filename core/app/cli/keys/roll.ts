// `tatami keys roll KEY`: creates a new key; the old one stays valid for a grace period.
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { programName } from '../../../platform/lib/process/own-program.ts';
import { quoted } from '../../../platform/lib/text/printable.ts';
import { graceMsMax } from '../../setup/rpc-schemas.ts';
import { duration, timeAhead } from '../lib/flags.ts';
import { printResult } from '../lib/output.ts';
import { callOperatorRpc, type LocalOptions } from './operator-rpc.ts';
import { createdKeyText } from './key-text.ts';

export interface RollOptions extends LocalOptions {
  grace: string;
  allScopes?: boolean;
  expires?: string;
}

/** @param folder where a relative data directory begins */
export async function roll(key: string, options: RollOptions, folder: string): Promise<void> {
  const { grace, allScopes = false, expires, dataDir } = options;
  const where = dataDir === undefined ? '' : ` --data-dir ${quoted(dataDir)}`;
  const rolled = await callOperatorRpc(options, folder, 'roll', {
    key,
    graceMs: duration('--grace', grace, graceMsMax),
    allScopes,
    ...(expires === undefined
      ? {}
      : { expiresAt: expires === 'never' ? null : timeAhead('--expires', expires, systemClock.nowMs()) }),
  });
  printResult(rolled, options, ({ previous, ...successor }) =>
    [
      `old       ${previous.id} ${
        previous.revokedAt === null
          ? `works until ${previous.expiresAt}; \`${programName} keys revoke ${previous.id}${where}\` revokes it now`
          : 'is revoked'
      }`,
      createdKeyText(successor),
    ].join('\n'),
  );
}
