// A server with two independent workspaces as a separate process, so that the cost of a flood to the server can be
// separated from its cost to the test. Arguments: data directory, flags of the server as JSON.
import { createWorkspace } from '../../core/app/setup/first-workspace.ts';
import { readConfig } from '../../core/app/config/config.ts';
import type { Flags } from '../../core/app/config/settings.ts';
import { endProcessOnBug } from '../../core/platform/lib/errors/failures.ts';
import type { Log } from '../../core/platform/lib/log.ts';
import { serve } from '../../core/app/serve/serve.ts';

export async function main([dataDir = '', flags = '{}']: readonly string[]): Promise<void> {
  const log: Log = (level, message, fields: object = {}) =>
    void (level === 'error' && process.stderr.write(`${message} ${JSON.stringify(fields)}\n`));
  // As in `tatami serve`: nothing that clients do to their connections may count as a bug.
  endProcessOnBug(log);
  const tatami = await serve({
    config: readConfig(
      { rateLimit: 'off', port: '0', egressAllow: '127.0.0.0/8', ...(JSON.parse(flags) as Flags), dataDir },
      {},
    ),
    log,
  });
  const make = (name: string, teamKey: string) =>
    createWorkspace(tatami.services, tatami.committer, {
      name,
      teamKey,
      teamName: teamKey,
      ownerName: `${name} owner`,
    });
  const flooder = await make('Flooder', 'ENG');
  const victim = await make('Victim', 'OPS');
  process.stdout.write(`${JSON.stringify({ url: tatami.url, flooder, victim })}\n`);
  process.on('SIGTERM', () => void tatami.stop().then(() => process.exit(0)));
}
