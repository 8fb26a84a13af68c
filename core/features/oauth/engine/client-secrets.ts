// Replaces the secret comparison of the protocol library, which compares plain texts, with one for several
// stored hashes, as a rotation needs.
import type Provider from 'oidc-provider';
import type { Clients } from '../clients/clients.ts';

export function askForSecrets({ prototype }: Provider['Client'], clients: Clients): void {
  Object.defineProperty(prototype, 'compareClientSecret', {
    value(this: { clientId: string }, text: string): Promise<boolean> {
      return clients.proves(this.clientId, text);
    },
  });
}
