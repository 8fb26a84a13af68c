// Models of all entities by name.
import type { AnyKind } from '../changes/kind.ts';
import { installKind } from '../plugins/installs/schema.ts';
import { proposalKind } from '../proposals/kind.ts';
import { kinds as kindsOfResources } from '../resources.ts';
import { endpointKind } from '../webhooks/endpoints/kind.ts';

export const kinds: ReadonlyMap<string, AnyKind> = new Map(
  [...kindsOfResources.values(), endpointKind, installKind, proposalKind].map((kind) => [kind.name, kind]),
);
