// Secrets of clients are kept as hashes, several of them while they are changed over, and the library compares two texts: it is told
// to ask where they are kept.
import type Provider from 'oidc-provider';
import type { Clients } from '../clients/clients.ts';

export function askForSecrets({ prototype }: Provider['Client'], clients: Pick<Clients, 'proves'>): void {
  Object.defineProperty(prototype, 'compareClientSecret', {
    value(this: { clientId: string }, text: string): Promise<boolean> {
      return clients.proves(this.clientId, text);
    },
  });
}
