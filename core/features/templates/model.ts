import { modelOf } from '../../kernel/resource/model.ts';
import { toFieldsResponse, type FieldValues } from '../fields/index.ts';
import { template } from './contract.ts';

/** Deleted labels and fields are left out. */
export const templateModel = modelOf(template, {
  shows: {
    fields: ({ fields }, { directory }) => toFieldsResponse(fields as FieldValues, directory),
    labels: ({ labels }, { directory }) =>
      labels.flatMap((id) => {
        const label = directory.labels.get(id);
        return label ? { id, name: label.name } : [];
      }),
  },
});
