// A core that creates issues sequentially and prints the acknowledged ones. It can be killed at any moment. Its clock
// starts at the time of the test's clock. Arguments: data directory, key, number of issues, milliseconds of that clock.
import { writeSync } from 'node:fs';
import { readConfig } from '../../core/app/config/config.ts';
import { serve } from '../../core/app/serve/serve.ts';
import { createClock } from '../app.ts';

export async function main([
  dataDir = '',
  token = '',
  count = '0',
  startMs = '',
]: readonly string[]): Promise<void> {
  const { app } = await serve({
    config: readConfig({ dataDir, port: '0', rateLimit: 'off' }, {}),
    log: () => undefined,
    clock: createClock(Number(startMs)),
  });
  for (let i = 0; i < Number(count); i++) {
    const response = await app.fetch(
      new Request('http://localhost/api/v1/issues', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': `key-${i}`,
        },
        body: JSON.stringify({ team: 'ENG', title: `Issue ${i}`, labels: ['bug'] }),
      }),
    );
    const { id } = (await response.json()) as { id: string };
    writeSync(1, `acked key-${i} ${id}\n`);
  }
  writeSync(1, 'done\n');
  process.exit(0);
}
