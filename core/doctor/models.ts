import type { AnyModel } from '../changes/kind.ts';
import { installModel } from '../plugins/installs/schema.ts';
import { proposalModel } from '../proposals/kind.ts';
import { models as resourceModels } from '../resources.ts';
import { endpointModel } from '../webhooks/endpoints/kind.ts';

export const models: ReadonlyMap<string, AnyModel> = new Map(
  [...resourceModels.values(), endpointModel, installModel, proposalModel].map((model) => [
    model.name,
    model,
  ]),
);
