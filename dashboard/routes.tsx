// Paths and screens. Each screen is a chunk that loads when it is opened.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  type RouteComponent,
} from '@tanstack/react-router';
import { paths } from '../core/app/dashboard/paths.ts';
import { Failed, Loading } from './parts/states.tsx';
import { Shell } from './shell.tsx';
import { issueSearch } from './screens/issues/search.ts';

const root = createRootRoute({ component: Shell });

/** Returns a path in the form of the router: `/issues/{identifier}` → `/issues/$identifier`. */
type RouterPath<P extends string> = P extends `${infer Before}{${infer Name}}${infer After}`
  ? `${Before}$${Name}${After}`
  : P;
const routerPath = <P extends string>(path: P): RouterPath<P> =>
  path.replaceAll(/\{(\w+)\}/g, '$$$1') as RouterPath<P>;

const screen = <P extends string>(path: P, load: () => Promise<{ default: RouteComponent }>) =>
  createRoute({
    getParentRoute: () => root,
    path: routerPath(path),
    component: lazyRouteComponent(load),
  });

const tree = root.addChildren([
  createRoute({
    getParentRoute: () => root,
    path: '/',
    beforeLoad: () => {
      throw redirect({ to: '/issues' });
    },
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/issues',
    validateSearch: issueSearch,
    component: lazyRouteComponent(() => import('./screens/issues/issues.tsx')),
  }),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error }) => <Failed error={error} />,
  defaultNotFoundComponent: () => <Failed error={null} />,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
export { screen, paths };
