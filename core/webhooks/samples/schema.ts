import { Type } from 'typebox';
import { Closed } from '../../lib/schema.ts';

export const SampleCreate = Closed({
  type: Type.String({ maxLength: 60, description: 'An event type, such as `issue.created`.' }),
  data: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "Fields to put over those of the sample's `data`; the whole must keep the type's schema.",
    }),
  ),
});
