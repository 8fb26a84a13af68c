// Replaces the secret comparison of the library, which compares plain texts: we store hashes, and several of them during a rotation.
import type Provider from 'oidc-provider';
import type { Clients } from '../clients/clients.ts';

export function askForSecrets({ prototype }: Provider['Client'], clients: Pick<Clients, 'proves'>): void {
  Object.defineProperty(prototype, 'compareClientSecret', {
    value(this: { clientId: string }, text: string): Promise<boolean> {
      return clients.proves(this.clientId, text);
    },
  });
}
