// Every operation that a client can ask for. Those of plugins and webhooks are made for a running service; here they are only looked at,
// so that nothing stands in for what they would run on.
import type { Route } from '../http/route.ts';
import { createMe } from '../identity/me.ts';
import { catchUpRoutes } from '../plugins/catch-up/routes.ts';
import { installRoutes } from '../plugins/installs/routes.ts';
import { kvRoutes } from '../plugins/kv/routes.ts';
import { createPublicTriage } from '../plugins/public-triage/triage.ts';
import { runRoutes } from '../plugins/runs/routes.ts';
import { resourceRoutes } from '../resources.ts';
import { deliveryRoutes } from '../webhooks/deliveries/routes.ts';
import { endpointResource } from '../webhooks/endpoints/routes.ts';
import { replayRoutes } from '../webhooks/replays/routes.ts';
import { sampleRoutes } from '../webhooks/samples/routes.ts';

const nothing = <T>(): T => ({}) as T;

/** A file is sent and got by `fetch`: a method would have nothing to add. */
const isOfFile = ({ kind }: Route): boolean => kind === 'upload' || kind === 'file';

const all: readonly Route[] = [
  ...resourceRoutes,
  createMe(nothing()),
  ...endpointResource(nothing()).routes,
  ...deliveryRoutes(nothing()),
  ...replayRoutes(nothing()),
  ...sampleRoutes(nothing(), nothing(), nothing()),
  ...installRoutes(nothing()),
  ...runRoutes(nothing()),
  ...catchUpRoutes(nothing()),
  ...kvRoutes,
  createPublicTriage(nothing()),
];

export const clientRoutes: readonly Route[] = all.filter((route) => !isOfFile(route));
