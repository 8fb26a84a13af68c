// Lists the operations of the client. Routes of plugins and webhooks are normally built for a running service; here only their
// definitions are read, so their dependencies are empty stubs.
import type { Route } from '../../core/kernel/http/route.ts';
import { automationRoutes } from '../../core/features/automations/index.ts';
import { createMe } from '../../core/features/me/routes.ts';
import { actionRoutes } from '../../core/features/plugins/inbound/actions.ts';
import { budgetRoutes } from '../../core/features/plugins/budgets/routes.ts';
import { backfillRoutes } from '../../core/features/plugins/backfill/routes.ts';
import { inboundRoutes } from '../../core/features/plugins/inbound/routes.ts';
import { installRoutes } from '../../core/features/plugins/installs/routes.ts';
import { versionRoutes } from '../../core/features/plugins/installs/versions/routes.ts';
import { kvRoutes } from '../../core/features/plugins/kv/routes.ts';
import { scheduledRoutes } from '../../core/features/plugins/schedules/routes.ts';
import { createPublicTriage } from '../../core/features/plugins/public-triage.ts';
import { recorderRoutes } from '../../core/features/plugins/recorder/routes.ts';
import { runRoutes } from '../../core/features/plugins/runs/routes.ts';
import { secretRoutes } from '../../core/features/plugins/secrets/routes.ts';
import { trailRoute } from '../../core/features/plugins/trail/routes.ts';
import { trialRoutes } from '../../core/features/plugins/trial/routes.ts';
import { undoRoutes } from '../../core/features/plugins/undo/routes.ts';
import { createRuleRuntime } from '../../core/features/plugins/rules/runtime.ts';
import { proposalRoutes } from '../../core/features/proposals/routes.ts';
import { createOpenApi } from '../../core/kernel/http/openapi/routes.ts';
import { streamRoutes } from '../../core/kernel/events/stream/routes.ts';
import { resourceRoutes } from '../../core/app/features.ts';
import { deliveryRoutes } from '../../core/features/webhooks/deliveries/routes.ts';
import { endpointResource } from '../../core/features/webhooks/endpoints/routes.ts';
import { replayRoutes } from '../../core/features/webhooks/replays/routes.ts';
import { sampleRoutes } from '../../core/features/webhooks/sampling.ts';

const nothing = <T>(): T => ({}) as T;

/** Routes that upload or download files use plain `fetch`; a client method would add nothing. */
const isOfFile = ({ kind }: Route): boolean => kind === 'upload' || kind === 'file';
/** Inbound requests to plugins have no schema in the API. */
const isOfOthers = ({ kind }: Route): boolean => kind === 'inbound';

const all: readonly Route[] = [
  ...resourceRoutes,
  ...automationRoutes(createRuleRuntime(nothing(), nothing(), nothing())),
  createMe(nothing()),
  ...endpointResource(nothing()).routes,
  ...deliveryRoutes(nothing()),
  ...replayRoutes(nothing()),
  ...sampleRoutes(nothing(), nothing(), nothing()),
  ...installRoutes(nothing()),
  ...versionRoutes(nothing()),
  ...runRoutes(nothing()),
  ...trialRoutes(nothing()),
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

/** Operations that are commands: all that callers may use. */
export const commandRoutes: readonly Route[] = [
  ...all.filter((route) => !isOfOthers(route)),
  ...streamRoutes(nothing()),
  createOpenApi(nothing()).route,
];

export const clientRoutes: readonly Route[] = all.filter((route) => !isOfFile(route) && !isOfOthers(route));
