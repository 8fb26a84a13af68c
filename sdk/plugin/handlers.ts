// Handler types of a plugin, with the member of the definition that holds them. Pure data, read by the packer, the
// guest program and the host.

export const handlerMembers = {
  event: 'on',
  schedule: 'schedules',
  action: 'actions',
  route: 'routes',
} as const;

export type HandlerKind = keyof typeof handlerMembers;

export const handlerKinds = Object.keys(handlerMembers) as readonly HandlerKind[];

/** Handler types whose caller waits for the returned value. */
export const answeringKinds: readonly HandlerKind[] = ['action', 'route'];

/** Limit of the returned value as JSON, in UTF-16 units. */
export const resultUnitsMax = 20 * 1024;
