// Paths and screens. Each screen is a chunk that loads when it is opened. core/app/dashboard/paths.ts has the same
// paths for the server.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { preferences } from './data/preferences.ts';
import { FailedScreen, Loading } from './parts/states.tsx';
import { Shell } from './shell.tsx';
import { boardSearch } from './screens/boards/search.ts';
import { inboxSearch } from './screens/inbox/search.ts';
import { issueSearch } from './screens/issues/search.ts';
import { triageSearch } from './screens/triage/search.ts';

const startPages = {
  my_issues: '/my-issues',
  inbox: '/inbox',
  triage: '/triage',
  issues: '/issues',
  boards: '/boards',
  cycles: '/cycles',
  projects: '/projects',
  releases: '/releases',
} as const;

const root = createRootRoute({ component: Shell });
const getParentRoute = () => root;

/** Keeps the search parameters that are texts. */
const textSearch = (search: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

const tree = root.addChildren([
  createRoute({
    getParentRoute,
    path: '/',
    beforeLoad: () => {
      throw redirect({ to: startPages[preferences().startPage] });
    },
  }),
  createRoute({
    getParentRoute,
    path: '/welcome',
    component: lazyRouteComponent(() => import('./screens/welcome/welcome.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/my-issues',
    validateSearch: issueSearch,
    component: lazyRouteComponent(() => import('./screens/issues/my-issues.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/inbox',
    validateSearch: inboxSearch,
    component: lazyRouteComponent(() => import('./screens/inbox/inbox.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/triage',
    validateSearch: triageSearch,
    component: lazyRouteComponent(() => import('./screens/triage/triage.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/issues',
    validateSearch: issueSearch,
    component: lazyRouteComponent(() => import('./screens/issues/issues.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/issues/$identifier',
    validateSearch: textSearch,
    component: lazyRouteComponent(() => import('./screens/issue/issue.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/views/$id',
    validateSearch: issueSearch,
    component: lazyRouteComponent(() => import('./screens/issues/view.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/boards',
    component: lazyRouteComponent(() => import('./screens/boards/boards.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/boards/$id',
    validateSearch: boardSearch,
    component: lazyRouteComponent(() => import('./screens/boards/board.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/cycles',
    component: lazyRouteComponent(() => import('./screens/cycles/cycles.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/cycles/$id',
    component: lazyRouteComponent(() => import('./screens/cycles/cycle.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/projects',
    component: lazyRouteComponent(() => import('./screens/projects/projects.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/projects/$id',
    component: lazyRouteComponent(() => import('./screens/projects/project.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/releases',
    component: lazyRouteComponent(() => import('./screens/releases/releases.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/releases/$id',
    component: lazyRouteComponent(() => import('./screens/releases/release.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/sla',
    component: lazyRouteComponent(() => import('./screens/sla/sla.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/automations',
    component: lazyRouteComponent(() => import('./screens/automations/automations.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/automations/new',
    validateSearch: textSearch,
    component: lazyRouteComponent(() => import('./screens/automations/start/new.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/automations/$id',
    validateSearch: textSearch,
    component: lazyRouteComponent(() => import('./screens/automations/automation.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/proposals',
    validateSearch: textSearch,
    component: lazyRouteComponent(() => import('./screens/proposals/proposals.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/proposals/$id',
    component: lazyRouteComponent(() => import('./screens/proposals/proposal.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/webhooks',
    validateSearch: textSearch,
    component: lazyRouteComponent(() => import('./screens/webhooks/webhooks.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/webhooks/$id',
    validateSearch: textSearch,
    component: lazyRouteComponent(() => import('./screens/webhooks/webhook.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/deliveries/$id',
    component: lazyRouteComponent(() => import('./screens/webhooks/delivery.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/api-keys',
    component: lazyRouteComponent(() => import('./screens/api-keys/api-keys.tsx')),
  }),
  createRoute({
    getParentRoute,
    path: '/audit-log',
    validateSearch: textSearch,
    component: lazyRouteComponent(() => import('./screens/audit-log/audit-log.tsx')),
  }),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error }) => <FailedScreen error={error} />,
  defaultNotFoundComponent: () => <FailedScreen error={null} />,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
