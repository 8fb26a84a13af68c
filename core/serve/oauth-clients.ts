// The clients of the authorization server, put together: how they are found, and how they register themselves.
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
  /** A client is gone. */
  gone: () => void;
}): OAuthClients {
  const { services, resolve, port, gone } = options;
  // Strangers have documents fetched: what the operator opened for webhooks and plugins is not theirs to reach.
  const egress = createEgress({ allow: [], ownPort: () => port, resolve });
  const registered = createRegisteredClients(services);
  const documents = createDocuments({ egress, nowMs: services.nowMs });
  return {
    clients: createClients({ services, registered, documents }),
    registration: createRegistration({ services, registered, gone }),
    stop: egress.close,
  };
}
