// The kinds of handler that a plugin can have, each by the member of its definition that holds it. Pure data: the packer, the guest
// program and the host all read it.

export const handlerMembers = {
  event: 'on',
  schedule: 'schedules',
  action: 'actions',
  route: 'routes',
} as const;

export type HandlerKind = keyof typeof handlerMembers;

export const handlerKinds = Object.keys(handlerMembers) as readonly HandlerKind[];

/** Kinds whose caller waits for what the handler returns. */
export const answeringKinds: readonly HandlerKind[] = ['action', 'route'];

/** UTF-16 units of the JSON of what such a handler returns. */
export const resultUnitsMax = 20 * 1024;
