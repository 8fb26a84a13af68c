// A small SMTP server (RFC 5321) that stores the received mails. It offers no encryption.
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface Mailbox {
  readonly port: number;
  /** Commands of clients, in order, without the contents of mails. */
  readonly commands: string[];
  /** Waits for the next mail and returns it whole, with unfolded lines. */
  next(): Promise<string>;
  close(): void;
}

export async function openMailbox(): Promise<Mailbox> {
  const commands: string[] = [];
  const mails: string[] = [];
  const waiting: ((mail: string) => void)[] = [];
  const arrive = (mail: string): void => {
    const first = waiting.shift();
    if (first) first(mail);
    else mails.push(mail);
  };

  const talk = (socket: Socket): void => {
    let mail: string[] | null = null;
    let rest = '';
    const answer = (line: string): void => void socket.write(`${line}\r\n`);
    const take = (line: string): void => {
      if (mail) {
        if (line !== '.') return void mail.push(line);
        arrive(mail.join('\n').replaceAll(/=\n/g, '').replaceAll('=3D', '='));
        mail = null;
        return answer('250 taken');
      }
      commands.push(line);
      const [word = ''] = line.toUpperCase().split(' ');
      if (word === 'EHLO') return answer('250-here\r\n250 AUTH PLAIN');
      if (word === 'AUTH') return answer('235 known');
      if (word === 'STARTTLS') return answer('502 there is none');
      if (word === 'DATA') mail = [];
      if (word === 'QUIT') socket.end();
      return answer(word === 'DATA' ? '354 go on' : '250 fine');
    };
    answer('220 here');
    socket.on('data', (bytes) => {
      const lines = (rest + bytes.toString()).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(line);
    });
    socket.on('error', () => socket.destroy());
  };

  const server = createServer(talk);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    next: () => {
      const mail = mails.shift();
      return mail === undefined
        ? new Promise((resolve) => void waiting.push(resolve))
        : Promise.resolve(mail);
    },
    close: () => void server.close(),
  };
}
