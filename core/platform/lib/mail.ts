// Sends mail through the operator's SMTP server. The connection must be encrypted unless the server is on this machine.
import { errorForLog } from './errors/failures.ts';
import { inTime } from './time/clock.ts';
import type { Log } from './log.ts';

export interface Message {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

export interface Mail {
  /** Sends in the background, so that response times do not reveal whether mail was sent. Failures are logged. */
  post(message: Message): void;
  /** Resolves once posted messages are sent or have failed. */
  settled(): Promise<void>;
  /** Waits a limited time for messages in progress. */
  stop(): Promise<void>;
}

const timeoutMs = 20_000;
const stopWithinMs = 2_000;

/**
 * @param url `smtp://` (STARTTLS) or `smtps://`, with user and password if the server requires them
 * @param from sender of all messages
 */
export function createMail({ url, from }: { url: string; from: string }, log: Log): Mail {
  const underWay = new Set<Promise<void>>();
  const send = async (message: Message): Promise<void> => {
    try {
      // Loaded on first use, because most servers send no mail.
      const { createTransport } = await import('nodemailer');
      const transport = createTransport(transportOptions(url));
      try {
        // An object is a single address; a string would be parsed as a list.
        const to = { name: '', address: message.to };
        await transport.sendMail({ ...message, to, from, disableFileAccess: true, disableUrlAccess: true });
      } finally {
        transport.close();
      }
    } catch (error) {
      log('warn', 'a mail could not be sent', { subject: message.subject, error: errorForLog(error) });
    }
  };
  const settled = async (): Promise<void> => void (await Promise.all(underWay));
  return {
    post(message) {
      const sending = send(message).finally(() => underWay.delete(sending));
      underWay.add(sending);
    },
    settled,
    stop: () => inTime(settled(), stopWithinMs, () => new Error('late')).catch(() => undefined),
  };
}

/** Requires encryption before anything is sent to a server on another machine. */
function transportOptions(url: string) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const secure = protocol === 'smtps:';
  const isHere = host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
  return {
    host,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: !secure && !isHere,
    // A server on this machine rarely has a certificate for its name.
    ...(isHere ? { tls: { rejectUnauthorized: false } } : {}),
    ...(username === ''
      ? {}
      : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  };
}
