// Lists the operations of the client. Routes of plugins and webhooks are normally built for a running service; here only their
// definitions are read, so their dependencies are empty stubs.
import type { Route } from '../http/route.ts';
import { createMe } from '../identity/me.ts';
import { actionRoutes } from '../plugins/actions/routes.ts';
import { backtestRoutes } from '../plugins/backtests/routes.ts';
import { budgetRoutes } from '../plugins/budgets/routes.ts';
import { backfillRoutes } from '../plugins/backfill/routes.ts';
import { inboundRoutes } from '../plugins/inbound/routes.ts';
import { installRoutes } from '../plugins/installs/routes.ts';
import { kvRoutes } from '../plugins/kv/routes.ts';
import { scheduledRoutes } from '../plugins/one-time-jobs/routes.ts';
import { createPublicTriage } from '../plugins/public-triage/triage.ts';
import { recorderRoutes } from '../plugins/recorder/routes.ts';
import { runRoutes } from '../plugins/runs/routes.ts';
import { secretRoutes } from '../plugins/secrets/routes.ts';
import { shadowRoutes } from '../plugins/shadows/routes.ts';
import { trailRoute } from '../plugins/trail/routes.ts';
import { undoRoutes } from '../plugins/undo/routes.ts';
import { proposalRoutes } from '../proposals/routes.ts';
import { resourceRoutes } from '../resources.ts';
import { deliveryRoutes } from '../webhooks/deliveries/routes.ts';
import { endpointResource } from '../webhooks/endpoints/routes.ts';
import { replayRoutes } from '../webhooks/replays/routes.ts';
import { sampleRoutes } from '../webhooks/samples/routes.ts';

const nothing = <T>(): T => ({}) as T;

/** Routes that upload or download files use plain `fetch`; a client method would add nothing. */
const isOfFile = ({ kind }: Route): boolean => kind === 'upload' || kind === 'file';
/** Inbound requests to plugins have no schema in the API. */
const isOfOthers = ({ kind }: Route): boolean => kind === 'inbound';

const all: readonly Route[] = [
  ...resourceRoutes,
  createMe(nothing()),
  ...endpointResource(nothing()).routes,
  ...deliveryRoutes(nothing()),
  ...replayRoutes(nothing()),
  ...sampleRoutes(nothing(), nothing(), nothing()),
  ...installRoutes(nothing()),
  ...runRoutes(nothing()),
  ...backtestRoutes(nothing()),
  ...shadowRoutes(nothing()),
  ...recorderRoutes(nothing()),
  ...budgetRoutes(nothing()),
  ...backfillRoutes(nothing()),
  ...actionRoutes(nothing()),
  ...scheduledRoutes,
  ...undoRoutes(nothing()),
  trailRoute(nothing()),
  ...inboundRoutes(nothing()),
  ...kvRoutes,
  ...secretRoutes,
  ...proposalRoutes(nothing(), nothing()),
  createPublicTriage(nothing()),
];

export const clientRoutes: readonly Route[] = all.filter((route) => !isOfFile(route) && !isOfOthers(route));
