import { defineFeature } from '../../kernel/feature.ts';
import { fields as resource } from './fields.ts';

export const fields = defineFeature({ name: 'fields', resources: [resource] });

export { withFieldsAt } from './as-of.ts';
export { customValue, customColumns, customFilterFields, customKeys, customSortings } from './filter.ts';
export {
  requiredOf,
  toFieldsResponse,
  toStoredFields,
  fieldsAfter,
  stillTaken,
  type FieldValues,
} from './values.ts';
