// Assembles the OAuth clients: lookup and registration.
import type { Services } from '../context.ts';
import { createEgress, type Resolve } from '../lib/egress/egress.ts';
import { createClients, type Clients } from '../oauth/clients/clients.ts';
import { createDocuments } from '../oauth/clients/documents.ts';
import { createRegisteredClients } from '../oauth/clients/registered.ts';
import { createRegistration, type Registration } from '../oauth/clients/registration.ts';

export interface OAuthClients {
  readonly clients: Clients;
  readonly registration: Registration;
  stop(): void;
}

export function createOAuthClients(options: {
  services: Services;
  resolve: Resolve;
  port: number;
  /** Called after a client was deleted. */
  gone: () => void;
}): OAuthClients {
  const { services, resolve, port, gone } = options;
  // Anonymous callers can trigger fetches of client documents, so the networks allowed for webhooks and plugins do not apply.
  const egress = createEgress({ allow: [], ownPort: () => port, resolve });
  const registered = createRegisteredClients(services);
  const documents = createDocuments({ egress, nowMs: services.nowMs });
  return {
    clients: createClients({ services, registered, documents }),
    registration: createRegistration({ services, registered, gone }),
    stop: egress.close,
  };
}
