// Sends mail over the SMTP server that the operator names. That one is trusted to be where it is: what it is asked goes encrypted, unless
// it stands on this machine.
import { errorForLog } from './failures.ts';
import { inTime } from './in-time.ts';
import type { Log } from './log.ts';

export interface Message {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

export interface Mail {
  /** Sends in the background: nobody can tell from the time of an answer whether mail was sent. What fails is in the log. */
  post(message: Message): void;
  /** Resolves once what was posted has been sent, or has failed. */
  settled(): Promise<void>;
  /** Waits for what is under way, for a while. */
  stop(): Promise<void>;
}

const timeoutMs = 20_000;
/** So long a process that stops waits for mails on their way. */
const stopWithinMs = 2_000;

/** @param url `smtp://` (STARTTLS) or `smtps://`, with user and password where the server asks for them. @param from of each mail */
export function createMail({ url, from }: { url: string; from: string }, log: Log): Mail {
  const underWay = new Set<Promise<void>>();
  const send = async (message: Message): Promise<void> => {
    try {
      // Only a server that has something to send needs the library.
      const { createTransport } = await import('nodemailer');
      const transport = createTransport(transportOptions(url));
      try {
        // As an object it is one address, whatever stands in it: a text would be read as a list.
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

/** A server on another machine is told nothing before the connection is encrypted. */
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
