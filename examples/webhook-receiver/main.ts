// Receives webhooks of a Tatami server, each event once. See README.md.
import { parseArgs } from 'node:util';
import type { WebhookEvent } from '@tatami/sdk/webhooks';
import { catchUp } from './catch-up.ts';
import { openJournal } from './journal.ts';
import { startReceiver } from './receiver.ts';

const { env } = process;
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: env.PORT ?? '3000' },
    /** Comma-separated: two secrets during a rotation. */
    secret: { type: 'string', default: env.TATAMI_WEBHOOK_SECRET ?? '' },
    journal: { type: 'string', default: env.JOURNAL ?? 'events.jsonl' },
    /** Server whose missed events are read from the feed at startup, if a token is set. */
    server: { type: 'string', default: env.TATAMI_SERVER ?? 'http://127.0.0.1:4700' },
    token: { type: 'string', default: env.TATAMI_TOKEN ?? '' },
    events: { type: 'string', default: 'issue.*' },
  },
});
const secrets = values.secret.split(',').filter(Boolean);
if (secrets.length === 0) {
  console.error('Set the signing secret with --secret or TATAMI_WEBHOOK_SECRET.');
  process.exit(2);
}

const journal = openJournal(values.journal);
const onEvent = ({ sequence, type, id }: WebhookEvent): void => console.log(`${sequence}  ${type}  ${id}`);
const receiver = startReceiver({ port: Number(values.port), secrets, journal, onEvent });
console.log(`listening on ${receiver.url} with ${journal.size} events in ${values.journal}`);
if (values.token !== '') await catchUp(journal, values, onEvent);

process.once('SIGTERM', () => {
  void receiver.stop().then(() => journal.close());
});
