import type { AnyModel } from '../../kernel/changes/model.ts';
import { installModel } from '../../features/plugins/installs/schema.ts';
import { proposalModel } from '../../features/proposals/model.ts';
import { models as resourceModels } from '../features.ts';
import { endpointModel } from '../../features/webhooks/endpoints/model.ts';

export const models: ReadonlyMap<string, AnyModel> = new Map(
  [...resourceModels.values(), endpointModel, installModel, proposalModel].map((model) => [
    model.name,
    model,
  ]),
);
